/**
 * The memory campaign: `npm run campaign:memory -- --kills 200 --seed 1`. Sessions note what they learn while they are killed and
 * a person edits the same files; exit code 1 when a line is lost, doubled or not taken back. See docs/campaigns.md.
 */
import { exitCodeOf, roundOptions } from './kill/round-options.ts';
import { memoryCampaignReport, runMemoryCampaign } from './memory/campaign.ts';

const result = await runMemoryCampaign(roundOptions(200));
console.log(memoryCampaignReport(result));
process.exitCode = exitCodeOf(result);
