/**
 * The team campaign: `npm run campaign:team -- --kills 200 --seed 1`. Teams work while their processes are killed at random
 * moments and resumed; exit code 1 when a letter, claim, task or file is not accounted for. See docs/campaigns.md.
 */
import { parseArgs } from 'node:util';
import { runTeamCampaign, teamCampaignReport } from './team/campaign.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    round: { type: 'string' },
    parallel: { type: 'string', default: '2' },
    minutes: { type: 'string', default: '60' },
    keep: { type: 'string' },
  },
});

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
const result = await runTeamCampaign({
  stopped: stop.signal,
  ...{ kills: Number(values.kills), seed: Number(values.seed), parallel: Number(values.parallel) },
  minutes: Number(values.minutes),
  ...(values.round !== undefined && { onlyRound: Number(values.round) }),
  ...(values.keep !== undefined && { keep: values.keep }),
  onRound: (line) => console.log(line),
});
console.log(teamCampaignReport(result));
process.exitCode = result.rounds.some(({ problems }) => problems.length > 0) || result.outOfTime ? 1 : 0;
