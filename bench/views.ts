/**
 * What a person waits for who looks at a large session: from the start of the command to its first screen and to its
 * end, for 1,000 agents and for 80,000 events. Beside it: `node -e 0`, and one plain reading of the same journal.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { findPlace } from '../packages/ramet/src/sdk/place.ts';
import { type BenchPlace, BIN, benchPlace } from './command.ts';
import { type LargeSession, writeLargeSession } from './large-session.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';

const ROUNDS = 3;
const GOAL_MS = 1_000;
const SCREEN_BYTES = 2_000;
const SIZES: LargeSession[] = [
  { agents: 1_000, turns: 1 },
  { agents: 1_000, turns: 10 },
];
const VIEWS = [['ps'], ['cost'], ['show'], ['show', '--full'], ['cache', 'explain']];

export async function run(): Promise<void> {
  using place = benchPlace();
  for (const size of SIZES) {
    const env = {
      PATH: process.env.PATH,
      HOME: place.freshHome(),
      RAMET_HOME: join(place.freshHome(), 'ramet'),
    };
    const { project } = findPlace({ cwd: place.repository, env });
    const session = await writeLargeSession(project, place.repository, size);
    const [events, floor] = plainReading(join(project, `${session}.sqlite`));
    console.log(`\nviews of ${size.agents} agents, ${events} events, ${ROUNDS} rounds`);
    console.log(`  node -e 0              ${showSpread(spreadOf(bareNode()), 'ms')}`);
    console.log(`  reading and parsing    ${floor.toFixed(1)} ms`);
    for (const view of VIEWS) await measure(place, env, view);
  }
}

async function measure(place: BenchPlace, env: NodeJS.ProcessEnv, view: readonly string[]): Promise<void> {
  const samples: { first: number; last: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) samples.push(await look(place, env, view));
  const first = spreadOf(samples.map((sample) => sample.first));
  const name = `ramet ${view.join(' ')}`;
  console.log(
    `  ${name.padEnd(22)} to its end: ${showSpread(spreadOf(samples.map(({ last }) => last)), 'ms')}`,
  );
  console.log(`  ${verdict(`${name}, first screen`, first.median, GOAL_MS, 'ms')}`);
}

async function look(
  { repository }: BenchPlace,
  env: NodeJS.ProcessEnv,
  view: readonly string[],
): Promise<{ first: number; last: number }> {
  const began = performance.now();
  let first = Number.NaN;
  let bytes = 0;
  const child = spawn(process.execPath, [BIN, ...view], {
    cwd: repository,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (Number.isNaN(first) && bytes >= SCREEN_BYTES) first = performance.now() - began;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`ramet ${view.join(' ')} ended with ${code}`);
  const last = performance.now() - began;
  return { first: Number.isNaN(first) ? last : first, last };
}

function bareNode(): number[] {
  return Array.from({ length: ROUNDS }, () => {
    const began = performance.now();
    execFileSync(process.execPath, ['-e', '0']);
    return performance.now() - began;
  });
}

function plainReading(file: string): [events: number, ms: number] {
  using db = new DatabaseSync(file, { readOnly: true });
  const began = performance.now();
  const rows = db.prepare('SELECT data FROM events').all();
  for (const { data } of rows) JSON.parse(String(data));
  return [rows.length, performance.now() - began];
}
