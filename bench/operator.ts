/**
 * What the operator adds to the work of its agents (OP-2, OP-3, OP-6): wall clock of forty tasks beside the ideal list schedule,
 * its own CPU time for each transition with a real journal, and what twenty children of two calls cost.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmulator } from '../packages/ramet/src/emulator/index.ts';
import { createSession } from '../packages/ramet/src/journal/sessions.ts';
import { Operator } from '../packages/ramet/src/operator/run/operator.ts';
import { inputCost } from '../packages/ramet/test/fixtures/fan-out.ts';
import { OperatorWorld, runTask } from '../packages/ramet/test/fixtures/operator-world.ts';
import { type BenchPlace, BIN, benchPlace } from './command.ts';
import { verdict } from './statistics.ts';

const TASKS = 40;
const WIDTH = 8;
/** Two requests of each task take this long together. */
const MODEL_MS = 2_000;
const FILES = 200;
const IDENTITY = ['AUTHOR', 'COMMITTER'].flatMap((role) => [
  [`GIT_${role}_NAME`, 'Bench'],
  [`GIT_${role}_EMAIL`, 'bench@example.invalid'],
]);

export async function run(): Promise<void> {
  console.log(`\nthe operator: ${TASKS} tasks of ${MODEL_MS} ms, width ${WIDTH}, ${FILES} files, pool cold`);
  const ideal = (TASKS / WIDTH) * MODEL_MS;
  const { ms } = await runTasks(TASKS, WIDTH, MODEL_MS);
  console.log(
    `  wall clock ${(ms / 1_000).toFixed(1)} s, ideal list schedule ${(ideal / 1_000).toFixed(1)} s`,
  );
  console.log(`  ${verdict('wall clock beside the ideal', ms / ideal, 1.15, 'times')}`);
  // By default one agent leads, so that the others read what it wrote to the cache: here a second of the model's time.
  const atOnce = await runTasks(TASKS, WIDTH, MODEL_MS, { launch: 'parallel' });
  console.log(`  with the setting launch: parallel, ${(atOnce.ms / ideal).toFixed(2)} times the ideal`);
  for (const count of [40, 2_000]) {
    const { cpuMs, transitions } = await transitionCost(count);
    console.log(
      `  ${verdict(`CPU for each of ${transitions} transitions, ${count} tasks`, cpuMs / transitions, 0.3, 'ms')}`,
    );
  }
  const { cost } = await runTasks(20, 20, 600);
  console.log(`  ${verdict('20 tasks of two calls, input-token equivalents', cost, 20_000, '')}`);
}

function prepare({ repository }: BenchPlace, tasks: number): void {
  const git = (...args: string[]): void => {
    const env = { ...process.env, ...Object.fromEntries(IDENTITY) };
    execFileSync('git', args, { cwd: repository, env, stdio: 'ignore' });
  };
  mkdirSync(join(repository, 'src'));
  for (let index = 0; index < FILES; index += 1)
    writeFileSync(join(repository, 'src', `f${index}.ts`), `export const f${index} = ${index};\n`.repeat(20));
  const lines = Array.from(
    { length: tasks },
    (_, index) => `- [ ] T${String(index + 1).padStart(3, '0')} [P] Write o${index}.txt`,
  );
  git('add', '--all');
  git('commit', '--quiet', '--message=base');
  git('branch', 'landing');
  writeFileSync(join(repository, 'tasks.md'), `${lines.join('\n')}\n`);
}

async function runTasks(
  tasks: number,
  width: number,
  modelMs: number,
  settings: { launch?: string } = {},
): Promise<{ ms: number; cost: number }> {
  using place = benchPlace();
  prepare(place, tasks);
  const emulator = await startEmulator({
    latency: { baseMs: modelMs / 2 },
    respond: ({ request, turn }) => {
      const name = /Task \S+: Write (\w+\.txt)/.exec(JSON.stringify(request.messages))?.[1] ?? 'unknown.txt';
      if (turn > 0) return { text: `Wrote ${name}.` };
      return { tool_use: [{ name: 'Write', input: { file_path: name, content: `${name}\n` } }] };
    },
  });
  const home = place.freshHome();
  mkdirSync(join(home, 'ramet'), { recursive: true, mode: 0o700 });
  writeFileSync(join(home, 'ramet', 'settings.json'), JSON.stringify(settings));
  const args = ['operate', 'tasks.md', '--into', 'landing', '--parallel', String(width)];
  const started = performance.now();
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: place.repository,
    env: {
      ...{
        PATH: process.env.PATH,
        HOME: home,
        RAMET_HOME: join(home, 'ramet'),
        ...Object.fromEntries(IDENTITY),
      },
      ...{ ANTHROPIC_BASE_URL: emulator.url, ANTHROPIC_API_KEY: 'bench' },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += String(chunk);
    });
  const [code] = await once(child, 'close');
  const ms = performance.now() - started;
  const cost = inputCost(emulator.requests);
  await emulator.close();
  if (code !== 0) throw new Error(`ramet operate ended with ${code}: ${output.slice(-2_000)}`);
  return { ms, cost };
}

/** Agents and merges take no time here: what is left is the operator and its journal. */
async function transitionCost(count: number): Promise<{ cpuMs: number; transitions: number }> {
  const root = mkdtempSync(join(tmpdir(), 'ramet-operator-'));
  try {
    const journal = await createSession({ project: join(root, 'project'), cwd: root });
    const tasks = Array.from({ length: count }, (_, index) =>
      runTask(`t${index}`, { waits: index < 8 ? [] : [`t${index - 8}`] }),
    );
    const world = new OperatorWorld({ tasks, width: WIDTH });
    const before = process.cpuUsage();
    let transitions = 0;
    const ports = world.ports();
    const operator = new Operator(world.state, {
      ...ports,
      record: (event) => {
        transitions += 1;
        journal.append(null, event);
        ports.record(event);
      },
      recorded: () => journal.commit('written'),
    });
    await operator.run(new AbortController().signal);
    const { user, system } = process.cpuUsage(before);
    await journal.close();
    return { cpuMs: (user + system) / 1_000, transitions };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

if (import.meta.main) await run();
