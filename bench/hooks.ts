/**
 * What running hooks costs: one hook beside a bare spawn of the same command, in turns; then a hundred hooks on one
 * event, sixteen at once, beside the same commands started bare, sixteen at once.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { readHooks } from '../packages/ramet/src/extensions/hooks/hook-config.ts';
import { HookRunner } from '../packages/ramet/src/extensions/hooks/hook-runner.ts';
import { systemClock } from '../packages/ramet/src/schema/clock.ts';
import { AtMost } from '../packages/ramet/src/system/few-at-once.ts';
import { createProcessRegister } from '../packages/ramet/src/system/processes/process-register.ts';
import { benchPlace } from './command.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';

const ONE = 100;
const MANY = 100;
const ROUNDS = 5;
const SLOWEST_MS = 50;
const env = { PATH: process.env.PATH ?? '' };

export async function run(): Promise<void> {
  using place = benchPlace();
  const cwd = place.repository;
  await using runner = new HookRunner({
    clock: systemClock,
    processes: createProcessRegister(join(cwd, '.git', 'processes'), () => {}),
    environment: env,
    projectDirectory: cwd,
  });
  const fire = (commands: readonly string[]): Promise<number> =>
    timed(async () => {
      const hooks = commands.map((command) => ({ type: 'command', command }));
      const input = { session_id: 's', transcript_path: '', cwd, hook_event_name: 'PreToolUse' } as const;
      const { runs } = await runner.run({
        hooks: readHooks({ PreToolUse: [{ hooks }] }, { label: 'bench' }).hooks,
        ...{ input, agent: 'bench', signal: new AbortController().signal },
      });
      const failed = runs.find(({ outcome }) => outcome !== 'ok');
      if (failed !== undefined || runs.length !== commands.length) throw new Error(JSON.stringify(failed));
    });
  await one(fire, cwd);
  await many(fire, cwd);
}

type Fire = (commands: readonly string[]) => Promise<number>;

async function one(fire: Fire, cwd: string): Promise<void> {
  const [bare, hooked]: [number[], number[]] = [[], []];
  for (let round = 0; round < ONE; round++) {
    bare.push(await timed(() => start('cat > /dev/null', cwd)));
    hooked.push(await fire(['cat > /dev/null']));
  }
  const [floor, cost] = [spreadOf(bare), spreadOf(hooked)];
  console.log(`\none hook, ${ONE} times, and a bare spawn of its command, in turns`);
  console.log(`  bare spawn  ${showSpread(floor, 'ms')}`);
  console.log(`  hook        ${showSpread(cost, 'ms')}`);
  console.log(`  ${verdict('a hook above its own time', cost.median - floor.median, 5, 'ms')}`);
}

/** Each command is another one, or they would run once. */
async function many(fire: Fire, cwd: string): Promise<void> {
  const commands = Array.from({ length: MANY }, (_, n) => `sleep ${SLOWEST_MS / 1_000}; : ${n}`);
  const [bare, hooked, slowest]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    slowest.push(await timed(() => start(commands[0] ?? '', cwd)));
    bare.push(
      await timed(async () => {
        const permits = new AtMost(16);
        await Promise.all(commands.map((command) => permits.run(() => start(command, cwd))));
      }),
    );
    hooked.push(await fire(commands));
  }
  const limit = 7 * spreadOf(slowest).median + 4 * MANY;
  console.log(`\n${MANY} hooks of ${SLOWEST_MS} ms on one event, 16 at once, ${ROUNDS} times`);
  console.log(`  bare spawns  ${showSpread(spreadOf(bare), 'ms')}`);
  console.log(`  hooks        ${showSpread(spreadOf(hooked), 'ms')}`);
  console.log(`  ${verdict('seven times the slowest and 4 ms each', spreadOf(hooked).median, limit, 'ms')}`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const since = performance.now();
  await work();
  return performance.now() - since;
}

function start(command: string, cwd: string): Promise<void> {
  return new Promise((done, fail) => {
    const child = spawn('bash', ['--norc', '-c', command], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
    child.once('error', fail).once('close', () => done());
    // Most of these commands read nothing.
    child.stdin.on('error', () => {}).end('{}');
  });
}
