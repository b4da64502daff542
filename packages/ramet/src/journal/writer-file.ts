/**
 * The files of an open session: `EventInsert` and `BlockInsert` write to them, `FileGuard` checks that they are still
 * there, `Checkpointer` moves the WAL into the database.
 *
 * SQLite keeps writing to a file whose name was removed, and everything acknowledged then would be lost. So the writer
 * syncs before others act on what it wrote, and checks the names. Removing or replacing a name changes the time of its
 * directory: while that time stays, one look at the directory is enough. A recent time proves nothing, since a second
 * change may have the same one.
 */
import { type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Worker } from 'node:worker_threads';
import type { AgentId } from '../schema/ids.ts';
import { removedWhileWriting, walRemovedWhileWriting } from '../system/sqlite/sqlite-failure.ts';

/**
 * Remembers the digests seen of late, in bounded memory: two generations, of which the older is dropped when the
 * younger is full. Forgetting one costs a superfluous write, never a wrong one.
 */
export class RecentDigests {
  readonly #limit: number;
  #young: Set<string> = new Set();
  #old: Set<string> = new Set();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** True when it was not known; it is from now on. */
  add(digest: string): boolean {
    if (this.#young.has(digest)) return false;
    const known = this.#old.has(digest);
    if (this.#young.size >= this.#limit) {
      this.#old = this.#young;
      this.#young = new Set();
    }
    this.#young.add(digest);
    return !known;
  }
}

/** Values of one event, in this order: time, agent, data, crc. */
const COLUMNS = 4;
/** Events of one statement at most. */
const MOST_ROWS = 16;
const MOST_VALUES = MOST_ROWS * COLUMNS;

/** Events that wait for their transaction: their values one after the other, as a statement takes them. */
export class PendingEvents {
  readonly values: SQLInputValue[] = [];

  get isEmpty(): boolean {
    return this.values.length === 0;
  }

  /** They go with one statement. */
  get areFew(): boolean {
    return this.values.length <= MOST_VALUES;
  }

  push(time: number, agent: AgentId | null, data: string, crc: number): void {
    this.values.push(time, agent, data, crc);
  }
}

/**
 * Puts events into a session's file, only while the fence is ours (`lease.ts`). Several go with one statement, which
 * compares the fence as well: each call into SQLite costs about as much as an event.
 */
export class EventInsert {
  readonly #db: DatabaseSync;
  readonly #fence: number;
  readonly #statements: (StatementSync | undefined)[] = [];

  constructor(db: DatabaseSync, fence: string) {
    this.#db = db;
    this.#fence = Number(fence);
  }

  /** Those that go with one statement, which is a transaction by itself. Returns as `put` does. */
  putAlone({ values }: PendingEvents): number | bigint | null {
    return this.#run(values);
  }

  /** Returns the number of the last one; null, and nothing may be committed, when another process has the session. */
  put({ values }: PendingEvents): number | bigint | null {
    let last: number | bigint | null = null;
    for (const part of inParts(values, COLUMNS, MOST_ROWS)) {
      last = this.#run(part);
      if (last === null) return null;
    }
    return last;
  }

  #run(values: readonly SQLInputValue[]): number | bigint | null {
    const rows = values.length / COLUMNS;
    this.#statements[rows] ??= this.#prepare(rows);
    const { changes, lastInsertRowid } = this.#statements[rows].run(...values);
    return changes === 0 ? null : lastInsertRowid;
  }

  #prepare(rows: number): StatementSync {
    const several = `* FROM (VALUES ${Array(rows).fill('(?, ?, ?, ?)').join()})`;
    // A failure ends the whole transaction: else SQLite keeps a copy of each page, to undo this statement alone.
    return this.#db.prepare(
      `INSERT OR ROLLBACK INTO events (time, agent, data, crc)
       SELECT ${rows === 1 ? '?, ?, ?, ?' : several}
       WHERE (SELECT value FROM meta WHERE key = 'fence') = '${this.#fence}'`,
    );
  }
}

const BLOCK_COLUMNS = 2;
/** Blocks of one statement at most. */
const MOST_BLOCKS = 8;

/** Puts blocks into a session's file, several with one statement. */
export class BlockInsert {
  readonly #db: DatabaseSync;
  readonly #statements: (StatementSync | undefined)[] = [];

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** `values` are a digest and its bytes, then the next. A digest that is there keeps its bytes. */
  put(values: readonly SQLInputValue[]): void {
    for (const part of inParts(values, BLOCK_COLUMNS, MOST_BLOCKS)) this.#run(part);
  }

  #run(values: readonly SQLInputValue[]): void {
    const rows = values.length / BLOCK_COLUMNS;
    this.#statements[rows] ??= this.#db.prepare(
      `INSERT OR IGNORE INTO blocks (digest, bytes) VALUES ${Array(rows).fill('(?, ?)').join()}`,
    );
    this.#statements[rows].run(...values);
  }
}

/**
 * Rows in parts of `most` (a power of two) and then of smaller powers of two. A statement for each number of rows would
 * be prepared more often than it is run: a short session commits a few times, each time another number.
 */
function* inParts(
  values: readonly SQLInputValue[],
  columns: number,
  most: number,
): Generator<readonly SQLInputValue[]> {
  let rows = most;
  for (let at = 0; at < values.length; at += rows * columns) {
    while (rows * columns > values.length - at) rows >>= 1;
    yield values.slice(at, at + rows * columns);
  }
}

/** Far longer than the steps in which kernels write times; some file systems write whole seconds. */
const YOUNG_MS = 100;
const YOUNG_WHOLE_SECONDS_MS = 2_500;

export class FileGuard {
  readonly #file: string;
  readonly #wal: string;
  readonly #directory: string;
  readonly #inode: number;
  readonly #walInode: number;
  /** Of the directory, when both names were last seen to be right. */
  #seen: { inode: number; changed: number } | null = null;

  /** The WAL exists: opening the file wrote the lease. */
  constructor(file: string) {
    this.#file = file;
    this.#wal = `${file}-wal`;
    this.#directory = dirname(file);
    this.#inode = inodeOf(file);
    this.#walInode = inodeOf(this.#wal);
  }

  look(now: number): void {
    // Read before the names are checked: a change in between shows the next time.
    const directory = statOf(this.#directory);
    if (directory !== undefined && this.#isSeen(directory)) return;
    if (inodeOf(this.#file) !== this.#inode) throw removedWhileWriting(this.#file);
    if (inodeOf(this.#wal) !== this.#walInode) throw walRemovedWhileWriting(this.#wal);
    this.#seen = directory === undefined || isYoung(directory, now) ? null : seenOf(directory);
  }

  walSize(): number {
    return statOf(this.#wal)?.size ?? 0;
  }

  #isSeen({ ino, mtimeMs }: Stats): boolean {
    return this.#seen?.changed === mtimeMs && this.#seen.inode === ino;
  }
}

function seenOf({ ino, mtimeMs }: Stats): { inode: number; changed: number } {
  return { inode: ino, changed: mtimeMs };
}

/** A time in the future is recent too: the clock was set back. */
function isYoung({ mtimeMs }: Stats, now: number): boolean {
  return now - mtimeMs < (mtimeMs % 1_000 === 0 ? YOUNG_WHOLE_SECONDS_MS : YOUNG_MS);
}

function inodeOf(path: string): number {
  return statOf(path)?.ino ?? -1;
}

function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/** Plain JavaScript in a string, so that it is found in a bundle and in the sources alike. */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
const { DatabaseSync } = require('node:sqlite');
const db = new DatabaseSync(workerData.file, { timeout: 0 });
const pause = new Int32Array(new SharedArrayBuffer(4));
function truncate() {
  for (let attempt = 0; attempt < 5; attempt++) {
    if (db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get().busy === 0) return;
    Atomics.wait(pause, 0, 0, 5);
  }
}
parentPort.on('message', (message) => {
  if (message === 'stop') {
    db.close();
    parentPort.close();
    return;
  }
  let failure = null;
  try {
    db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    truncate();
  } catch (error) {
    failure = String(error.message);
  }
  parentPort.postMessage(failure);
});
`;

/**
 * Moves the WAL into the database off the event loop: a checkpoint waits for the disk. The thread is started
 * the first time there is something worth moving, which most sessions never have.
 *
 * It first copies what there is while the writer continues (PASSIVE), then takes the write lock for the little
 * that came meanwhile (TRUNCATE), so that the WAL starts again from nothing. It never waits while it holds that
 * lock: with a reader or the writer in the way it gives up and is asked again later.
 */
export class Checkpointer {
  readonly #file: string;
  readonly #onFailure: (reason: string) => void;
  #thread: Worker | null = null;
  #running = false;
  #gone: Promise<void> = Promise.resolve();

  constructor(file: string, onFailure: (reason: string) => void) {
    this.#file = file;
    this.#onFailure = onFailure;
  }

  /** Asks for a checkpoint; does nothing while one runs. */
  request(): void {
    if (this.#running) return;
    this.#running = true;
    this.#thread ??= this.#start();
    this.#thread.postMessage('checkpoint');
  }

  /** Lets a running checkpoint finish and ends the thread. */
  async stop(): Promise<void> {
    // Now it must keep the process alive, or the process would end in the middle of this.
    this.#thread?.ref();
    this.#thread?.postMessage('stop');
    await this.#gone;
  }

  #start(): Worker {
    // Loaded here because loading it costs 2 ms, which every start would pay.
    const threads = process.getBuiltinModule('node:worker_threads');
    const thread = new threads.Worker(THREAD, { eval: true, workerData: { file: this.#file } });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gone = promise;
    // A session that is never closed must not keep the process alive for its checkpoints.
    thread.unref();
    thread.on('message', (failure: string | null) => {
      this.#running = false;
      if (failure !== null) this.#onFailure(failure);
    });
    thread.on('error', (error: Error) => this.#onFailure(error.message));
    thread.on('exit', () => {
      this.#thread = null;
      this.#running = false;
      resolve();
    });
    return thread;
  }
}
