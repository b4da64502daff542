/**
 * What running hooks costs: one hook beside a bare spawn of the same command, in turns; then a hundred hooks on one
 * event, sixteen at once, beside the same commands started bare, sixteen at once; then what trust looks at.
 */
import { spawn } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readHooks } from '../packages/ramet/src/extensions/hooks/hook-config.ts';
import { HookRunner } from '../packages/ramet/src/extensions/hooks/hook-runner.ts';
import { describePart } from '../packages/ramet/src/extensions/trust/folder-part.ts';
import { folderTrust } from '../packages/ramet/src/extensions/trust/folder-trust.ts';
import { runCheck } from '../packages/ramet/src/extensions/trust/run-check.ts';
import { systemClock } from '../packages/ramet/src/schema/clock.ts';
import { AtMost } from '../packages/ramet/src/system/few-at-once.ts';
import { createProcessRegister } from '../packages/ramet/src/system/processes/process-register.ts';
import { trust } from '../packages/ramet/src/system/trust.ts';
import { benchPlace } from './command.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';

const ONE = 100;
const MANY = 100;
const ROUNDS = 5;
const SLOWEST_MS = 50;
const FILES = 2_800;
const LOOKS = 60;
const RESTED_MS = 3_300;
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
  await looks(dirname(cwd));
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

/** What trust looks at before a hook and after it: a script that is named, and every file where nobody can tell what runs. */
async function looks(directory: string): Promise<void> {
  const root = join(directory, 'looked-at');
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write('.git/HEAD', '');
  write('.claude/hooks/x.sh', 'exit 0\n');
  for (let at = 0; at < FILES; at++)
    write(`src/room-${at % 20}/part-${at % 140}/file-${at}.ts`, 'x'.repeat(at));
  // What was written a moment ago is read each time.
  await systemClock.sleep(RESTED_MS, new AbortController().signal);
  for (const command of ['bash "$CLAUDE_PROJECT_DIR"/.claude/hooks/x.sh', 'sh $X']) {
    const part = { kind: 'hooks', source: join(root, '.claude/settings.json'), value: { command } } as const;
    const place = { home: join(root, '.git', 'home'), root };
    const { key, ...described } = describePart(part, root);
    trust(place, { [key]: described });
    const check = runCheck(part, place, folderTrust(place));
    const [floor, cost, ratio]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round < LOOKS; round++) {
      floor.push(await timed(async () => void lookAt(root)));
      cost.push(
        await timed(async () => {
          const problem = check([command], root, true);
          if (problem !== null) throw new Error(problem);
        }),
      );
      ratio.push((cost.at(-1) ?? 0) / (floor.at(-1) ?? 1));
    }
    console.log(
      `\none look before \`${command}\`, beside readdir and lstat of all ${FILES} files, ${LOOKS} times`,
    );
    console.log(`  readdir and lstat  ${showSpread(spreadOf(floor), 'ms')}`);
    console.log(`  look               ${showSpread(spreadOf(cost), 'ms')}`);
    console.log(`  look / floor       ${showSpread(spreadOf(ratio), '')}`);
    console.log(`  ${verdict('two looks', 2 * spreadOf(cost).median, 5, 'ms')}`);
  }
}

function lookAt(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = `${directory}/${entry.name}`;
    if (!entry.isDirectory()) lstatSync(path);
    else if (entry.name !== '.git') lookAt(path);
  }
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
