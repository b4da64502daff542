/**
 * The kill campaign: `npm run campaign:kill -- --kills 500 --seed 1`. Rounds of `kill/round.ts` until so many processes
 * were killed, then a report; exit code 1 when anything did not hold. See docs/campaigns.md.
 */
import { parseArgs } from 'node:util';
import { runCampaign } from './kill/campaign.ts';
import { campaignReport } from './kill/report.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '500' },
    seed: { type: 'string', default: '1' },
    round: { type: 'string' },
    parallel: { type: 'string', default: '2' },
    minutes: { type: 'string', default: '60' },
    power: { type: 'boolean', default: false },
    shape: { type: 'string' },
    keep: { type: 'string' },
  },
});

const result = await runCampaign({
  kills: Number(values.kills),
  seed: Number(values.seed),
  parallel: Number(values.parallel),
  minutes: Number(values.minutes),
  power: values.power,
  ...(values.round !== undefined && { onlyRound: Number(values.round) }),
  ...(values.shape !== undefined && { shape: values.shape }),
  ...(values.keep !== undefined && { keep: values.keep }),
  onRound: (line) => console.log(line),
});
console.log(campaignReport(result));
process.exitCode = result.rounds.some(({ problems }) => problems.length > 0) ? 1 : 0;
