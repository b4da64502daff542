/**
 * The operator campaign: `npm run campaign:operator -- --kills 300 --seed 1`. Runs of `ramet operate` are killed at random
 * moments and resumed until they end; exit code 1 when anything did not hold. See docs/campaigns.md.
 */
import { exitCodeOf, roundOptions } from './kill/round-options.ts';
import { campaignReport, runCampaign } from './operator/campaign.ts';

const result = await runCampaign(roundOptions(300));
console.log(campaignReport(result));
process.exitCode = exitCodeOf(result);
