/**
 * The team campaign: `npm run campaign:team -- --kills 200 --seed 1`. Teams work while their processes are killed at random
 * moments and resumed; exit code 1 when a letter, claim, task or file is not accounted for. See docs/campaigns.md.
 */
import { exitCodeOf, roundOptions } from './kill/round-options.ts';
import { runTeamCampaign, teamCampaignReport } from './team/campaign.ts';

const result = await runTeamCampaign(roundOptions(200));
console.log(teamCampaignReport(result));
process.exitCode = exitCodeOf(result);
