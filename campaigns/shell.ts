/**
 * The shell campaign: `npm run campaign:shell -- --passed 50000 --seed 1`. Mutates scripts, judges them with both judges,
 * runs what passes where every effect shows, and reports any. Exit code 1 when there was one. See docs/campaigns.md.
 */
import { parseArgs } from 'node:util';
import { runShellCampaign } from './shell/campaign.ts';

const DEFAULTS = { passed: '50000', walled: '5000', seed: '1', minutes: '60', parallel: '2' };
type Setting = keyof typeof DEFAULTS;

const plan = readPlan();
if (typeof plan === 'string') {
  console.error(`campaign:shell: ${plan}`);
  process.exit(2);
}

/** What is wrong with the options, in one line, or what they say. */
function readPlan(): Record<Setting, number> | string {
  try {
    const { values } = parseArgs({
      options: Object.fromEntries(
        Object.entries(DEFAULTS).map(([name, value]) => [name, { type: 'string' as const, default: value }]),
      ),
    });
    const numbers = Object.entries(values).map(([name, value]) => [name, Number(value)] as const);
    const wrong = numbers.find(([, value]) => !Number.isFinite(value) || value < 0);
    if (wrong !== undefined) return `--${wrong[0]} takes a number, not ${JSON.stringify(values[wrong[0]])}`;
    return { passed: 0, walled: 0, seed: 0, minutes: 0, parallel: 0, ...Object.fromEntries(numbers) };
  } catch (error) {
    const [line = ''] = String(error instanceof Error ? error.message : error).split(/\n|\. To specify/);
    return `${line}; it knows ${Object.keys(DEFAULTS)
      .map((name) => `--${name}`)
      .join(', ')}`;
  }
}

const result = await runShellCampaign({
  ...plan,
  onProgress: (line) => console.log(line),
});
const { judged, passed, walled, found, outOfTime, seconds } = result;
console.log(`\n${judged} scripts judged in ${seconds.toFixed(0)} s`);
console.log(`  strict judge   ${passed} passed and were run in the open, ${count('plain')} had an effect`);
console.log(
  `  generous judge ${walled} more passed and were run behind the wall, ${count('wall')} had an effect`,
);
for (const { way, script, effects } of found.slice(0, 50))
  console.log(`  EFFECT ${way} ${JSON.stringify(script)}: ${effects.join(', ')}`);
if (outOfTime) console.log('  the time was up before all were run');
process.exitCode = found.length > 0 || outOfTime ? 1 : 0;

function count(way: 'plain' | 'wall'): number {
  return found.filter((each) => each.way === way).length;
}
