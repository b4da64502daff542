/**
 * The plan campaign: `npm run campaign:plan`. A plan after one run of the same kind, against what then happens, on the
 * emulator's latency model. Exit code 1 when time is off by more than 15% or cost by more than 10%. See docs/campaigns.md.
 */
import { parseArgs } from 'node:util';
import { runPlanTrial } from './plan/run.ts';

const MOST_TIME = 0.15;
const MOST_COST = 0.1;

const { values } = parseArgs({
  options: {
    width: { type: 'string', default: '4' },
    latency: { type: 'string', default: '1500' },
    before: { type: 'string', default: '8' },
    after: { type: 'string', default: '13' },
  },
});

const { predictedSeconds, seconds, predictedUsd, usd } = await runPlanTrial({
  width: Number(values.width),
  latencyMs: Number(values.latency),
  before: Number(values.before),
  after: Number(values.after),
});
const time = Math.abs(predictedSeconds - seconds) / seconds;
const cost = Math.abs(predictedUsd - usd) / usd;
const share = (part: number): string => `${(part * 100).toFixed(1)}% off`;
console.log(`time: predicted ${predictedSeconds.toFixed(1)} s, took ${seconds.toFixed(1)} s, ${share(time)}`);
console.log(`cost: predicted $${predictedUsd.toFixed(4)}, was $${usd.toFixed(4)}, ${share(cost)}`);
const held = time <= MOST_TIME && cost <= MOST_COST;
console.log(held ? '  everything held' : '  DID NOT HOLD');
process.exitCode = held ? 0 : 1;
