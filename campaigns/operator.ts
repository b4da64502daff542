/**
 * The operator campaign: `npm run campaign:operator -- --kills 300 --seed 1`. Runs of `ramet operate` are killed at random
 * moments and resumed until they end; exit code 1 when anything did not hold. See docs/campaigns.md.
 */
import { parseArgs } from 'node:util';
import { campaignReport, runCampaign } from './operator/campaign.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    round: { type: 'string' },
    shape: { type: 'string' },
    parallel: { type: 'string', default: '2' },
    minutes: { type: 'string', default: '60' },
    keep: { type: 'string' },
  },
});

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
const result = await runCampaign({
  stopped: stop.signal,
  ...{ kills: Number(values.kills), seed: Number(values.seed), parallel: Number(values.parallel) },
  minutes: Number(values.minutes),
  ...(values.round !== undefined && { onlyRound: Number(values.round) }),
  ...(values.shape !== undefined && { shape: values.shape }),
  ...(values.keep !== undefined && { keep: values.keep }),
  onRound: (line) => console.log(line),
});
console.log(campaignReport(result));
const failed = result.rounds.some(({ problems }) => problems.length > 0);
process.exitCode = failed || result.outOfTime ? 1 : 0;
