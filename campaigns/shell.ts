/**
 * The shell campaign: `npm run campaign:shell -- --passed 50000 --seed 1`. Mutates scripts, judges them with both judges,
 * runs what passes where every effect shows, and reports any. Exit code 1 when there was one. See docs/campaigns.md.
 */
import { parseArgs } from 'node:util';
import { runShellCampaign } from './shell/campaign.ts';

const { values } = parseArgs({
  options: {
    passed: { type: 'string', default: '50000' },
    walled: { type: 'string', default: '5000' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '60' },
    parallel: { type: 'string', default: '2' },
  },
});

const result = await runShellCampaign({
  passed: Number(values.passed),
  walled: Number(values.walled),
  seed: Number(values.seed),
  minutes: Number(values.minutes),
  parallel: Number(values.parallel),
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
