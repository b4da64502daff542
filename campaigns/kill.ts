/**
 * The kill campaign: `npm run campaign:kill -- --kills 500 --seed 1`. Rounds of `kill/round.ts` until this many
 * processes were killed, then a report; exit code 1 when anything did not hold. See docs/campaigns.md.
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
    executor: { type: 'string', default: 'in-process' },
    keep: { type: 'string' },
  },
});

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
const { executor } = values;
if (executor !== 'in-process' && executor !== 'process' && executor !== 'mixed') {
  throw new Error(`--executor is in-process, process or mixed, not ${executor}`);
}
const result = await runCampaign({
  executor,
  stopped: stop.signal,
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
const failed = result.rounds.some(({ problems }) => problems.length > 0);
process.exitCode = failed || result.outOfTime ? 1 : 0;
