/**
 * How fast the journal takes events, beside a floor measured in the same run: a bare loop of prepared INSERTs on
 * node:sqlite with the same table and pragmas. Floor and journal alternate, so that a noisy moment hits both.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SESSION_MIGRATIONS } from '../packages/ramet/src/journal/session-schema.ts';
import { createSession } from '../packages/ramet/src/journal/sessions.ts';
import type { JournalEvent } from '../packages/ramet/src/schema/events.ts';

const ROUNDS = 9;
const EVENT_BYTES = 700;
const BATCHES = [1, 5, 50];
type Durability = 'written' | 'synced';

const event: JournalEvent = { type: 'warning.raised', code: 'bench', message: '' };
event.message = 'x'.repeat(EVENT_BYTES - JSON.stringify(event).length);

/** Milliseconds of each commit of one round. */
type Round = (batch: number, commits: number, durability: Durability) => Promise<number[]>;

export async function run(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'ramet-bench-journal-'));
  try {
    console.log(
      `journal: ${EVENT_BYTES}-byte events, Node ${process.version}, SQLite ${process.versions.sqlite}, ` +
        `${cpus().length} cores, files in ${tmpdir()}; ${ROUNDS} rounds each, journal and floor alternating, ` +
        'a new file a round; events/s as median (min-max) of rounds; commits over all rounds in ms',
    );
    await measureCreation(directory);
    for (const durability of ['written', 'synced'] as const) {
      for (const batch of BATCHES) await measure(directory, batch, durability);
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function measure(directory: string, batch: number, durability: Durability): Promise<void> {
  const commits = durability === 'synced' ? 200 : Math.max(200, Math.round(5000 / batch));
  const journal: number[][] = [];
  const floor: number[][] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const measured = await journalRound(directory)(batch, commits, durability);
    const bare = await floorRound(join(directory, `floor-${durability}-${batch}-${round}`))(
      batch,
      commits,
      durability,
    );
    // The first round warms the code up.
    if (round > 0) journal.push(measured) && floor.push(bare);
  }
  console.log(`${durability}, batches of ${batch}:`);
  report('journal', batch, journal);
  report('floor', batch, floor);
}

function journalRound(directory: string): Round {
  return async (batch, commits, durability) => {
    const journal = await createSession({ project: join(directory, 'project'), cwd: '/' });
    await journal.commit('synced');
    const times: number[] = [];
    for (let commit = 0; commit < commits; commit++) {
      const start = performance.now();
      for (let count = 0; count < batch; count++) journal.append('bench.1', event);
      await journal.commit(durability);
      times.push(performance.now() - start);
    }
    await journal.close();
    return times;
  };
}

function floorRound(file: string): Round {
  return async (batch, commits, durability) => {
    using db = new DatabaseSync(file);
    db.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0');
    for (const migration of SESSION_MIGRATIONS) db.exec(migration);
    db.exec(`PRAGMA synchronous = ${durability === 'synced' ? 'FULL' : 'NORMAL'}`);
    const [begin, end] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT')];
    const insert = db.prepare('INSERT INTO events (time, agent, data) VALUES (?, ?, ?)');
    const data = JSON.stringify(event);
    const times: number[] = [];
    for (let commit = 0; commit < commits; commit++) {
      const start = performance.now();
      begin.run();
      for (let count = 0; count < batch; count++) insert.run(0, 'bench.1', data);
      end.run();
      times.push(performance.now() - start);
    }
    return times;
  };
}

/** What stands before a first model request: making the session and committing its first events. */
async function measureCreation(directory: string): Promise<void> {
  const create: number[] = [];
  const first: number[] = [];
  for (let round = 0; round < 20; round++) {
    const start = performance.now();
    const journal = await createSession({
      project: join(directory, `home-${round}`, 'projects', 'p'),
      cwd: '/',
    });
    const created = performance.now();
    for (let count = 0; count < 5; count++) journal.append('bench.1', event);
    await journal.commit('written');
    create.push(created - start);
    first.push(performance.now() - created);
    await journal.close();
  }
  console.log('new session in a fresh directory, ms:');
  for (const [name, times] of [
    ['create', create],
    ['first commit', first],
  ] as const) {
    const cold = times[0] ?? Number.NaN;
    console.log(
      `  ${name.padEnd(12)} first in the process ${cold.toFixed(2)}, then ${spread(times.slice(1), 2)}`,
    );
  }
}

function report(name: string, batch: number, rounds: number[][]): void {
  const rates = rounds.map(
    (times) => (batch * times.length * 1000) / times.reduce((sum, time) => sum + time, 0),
  );
  const commits = rounds.flat();
  const percentiles = [50, 99, 99.9, 100].map((percent) => percentile(commits, percent).toFixed(2));
  console.log(
    `  ${name.padEnd(8)} ${spread(rates, 0).padEnd(28)} commit p50 ${percentiles[0]} p99 ${percentiles[1]} ` +
      `p99.9 ${percentiles[2]} max ${percentiles[3]}`,
  );
}

function spread(values: number[], digits: number): string {
  const [low, middle, high] = [0, 50, 100].map((percent) => percentile(values, percent).toFixed(digits));
  return `${middle} (${low}-${high})`;
}

function percentile(values: number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const index = Math.ceil((percent / 100) * sorted.length) - 1;
  return sorted[Math.max(0, index)] ?? Number.NaN;
}

if (import.meta.main) await run();
