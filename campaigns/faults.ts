/**
 * The fault campaign: `npm run campaign:faults -- --seed 1 --every 5`. Disks that fail at every write, limits,
 * networks, clocks and damaged journals; exit code 1 when anything did not hold. See docs/campaigns.md.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type FaultScenario, faultRound } from './faults/fault-round.ts';
import { flipRound } from './faults/flip-round.ts';
import {
  clockScenarios,
  diskScenarios,
  journalScenarios,
  limitScenarios,
  networkScenarios,
} from './faults/scenarios.ts';
import { planOf, type RoundPlan, SHAPES } from './kill/plan.ts';
import { chanceOf } from './kill/random.ts';
import { undisturbedRun } from './kill/round.ts';
import { Stage } from './kill/stage.ts';
import { World } from './kill/world.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    every: { type: 'string', default: '5' },
    flips: { type: 'string', default: '10' },
    only: { type: 'string' },
    part: { type: 'string', default: '1/1' },
    shape: { type: 'string', default: 'foreground' },
    minutes: { type: 'string', default: '30' },
  },
});
const seed = Number(values.seed);
const chance = chanceOf(seed);
const shape = SHAPES.find((name) => name === values.shape);
if (shape === undefined) throw new Error(`--shape is one of ${SHAPES.join(', ')}`);
const [part = 1, parts = 1] = values.part.split('/').map(Number);
const plan = planOf(shape, chance);
const known = await undisturbedRun(plan);
const end = performance.now() + Number(values.minutes) * 60_000;
const builtAt = bundleTime();
let [turn, rounds, failed, left] = [0, 0, 0, 0];

const scenarios: FaultScenario[] = [
  ...networkScenarios(chance),
  ...clockScenarios(),
  ...limitScenarios(),
  ...journalScenarios(chance),
  ...diskScenarios(await writesOf(plan)),
];
for (const scenario of scenarios) {
  await play(scenario.name, () => faultRound(plan, known, scenario));
}
for (let round = 1; round <= Number(values.flips); round++) {
  await play(`bits turned over, round ${round}`, () => flipRound(plan, chanceOf(seed * 1_000 + round)));
}
console.log(`\n${rounds} rounds, ${failed} of them wrong (seed ${seed}, ${shape}, part ${part}/${parts})`);
if (left > 0) console.log(`the time was up: ${left} rounds were not played`);
const rebuilt = bundleTime() !== builtAt;
if (rebuilt)
  console.log('the bundle was built again meanwhile, so that parts of two were run: nothing of this counts');
process.exitCode = failed > 0 || left > 0 || rebuilt ? 1 : 0;

function bundleTime(): number {
  const bundle = join(import.meta.dirname, '../packages/ramet/dist/cli/main.cjs');
  return statSync(bundle, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

async function play(name: string, work: () => Promise<string[]>): Promise<void> {
  if (values.only !== undefined && !name.includes(values.only)) return;
  if (turn++ % parts !== part - 1) return;
  if (performance.now() > end) {
    left += 1;
    return;
  }
  rounds += 1;
  const problems = await work().catch((error: unknown) => [`the round cannot be read: ${String(error)}`]);
  if (problems.length > 0) failed += 1;
  console.log(
    [`${problems.length === 0 ? 'ok   ' : 'WRONG'} ${name}`, ...problems.map((line) => `      ${line}`)].join(
      '\n',
    ),
  );
}

/** Every n-th write of an undisturbed run; none where they cannot be made to fail. */
async function writesOf(counted: RoundPlan): Promise<number[]> {
  if (spawnSync('strace', ['-qq', '-o', '/dev/null', 'true']).status !== 0) {
    console.log('skipped: writes that fail, since strace cannot be run here');
    return [];
  }
  const log = join(tmpdir(), `ramet-writes-${process.pid}`);
  await using stage = await Stage.open(counted);
  await using world = new World(counted, stage.emulator.url);
  const under = ['strace', '-f', '-qq', '-o', log, '-e', 'trace=pwrite64'];
  await world.startUnder(under, '-p', '[task root] Do the work.', '--permission-mode', 'bypassPermissions')
    .ended;
  const writes = readFileSync(log, 'utf8').split('\n').length;
  rmSync(log, { force: true });
  console.log(`an undisturbed run makes ${writes} writes; every ${values.every}th of them fails in turn`);
  return Array.from({ length: writes }, (_, index) => index + 1).filter(
    (write) => (write - 1) % Number(values.every) === 0,
  );
}
