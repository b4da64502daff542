/**
 * The outage campaign: `npm run campaign:outage`. Fifty agents with a provider that is away for ten minutes, resets
 * every connection every 20 s and lets every tenth request stall. Exit code 1 when anything did not hold. See
 * docs/campaigns.md.
 */
import { parseArgs } from 'node:util';
import { runOutage } from './outage/run.ts';

const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: '50' },
    steps: { type: 'string', default: '6' },
    away: { type: 'string', default: '600' },
    after: { type: 'string', default: '20' },
    resets: { type: 'string', default: '20' },
    stalls: { type: 'string', default: '10' },
    silence: { type: 'string', default: '90' },
    latency: { type: 'string', default: '4000' },
    executor: { type: 'string', default: 'in-process' },
  },
});

const result = await runOutage({
  agents: Number(values.agents),
  steps: Number(values.steps),
  stallEvery: Number(values.stalls),
  awaySeconds: Number(values.away),
  afterSeconds: Number(values.after),
  resetSeconds: Number(values.resets),
  silenceSeconds: Number(values.silence),
  latencyMs: Number(values.latency),
  executor: values.executor,
  onNote: (line) => console.log(`  ${line}`),
});
const { agents, responses, failures, waited, unanswered, costUsd, seconds } = result;
console.log(`${agents} agents, ${responses} responses in ${seconds.toFixed(0)} s, exit code ${result.code}`);
console.log(`  ${result.resets} resets of ${result.broken} connections, ${result.stalled} requests stalled`);
console.log(`  ${failures} attempts failed, ${waited} agents waited for the provider`);
console.log(`  bill $${costUsd?.toFixed(4)}, ${unanswered} requests without a response`);
for (const problem of result.problems.slice(0, 20)) console.log(`  DID NOT HOLD  ${problem}`);
if (result.problems.length === 0) console.log('  everything held');
process.exitCode = result.problems.length > 0 ? 1 : 0;
