/**
 * What the processes of one machine tell each other about the rate limits of providers: `machine.sqlite` in
 * `$RAMET_HOME` (LAUNCH-2). It is made with the first limit that anybody meets. What the figures mean is
 * `model/rate/rate-bucket.ts`'s.
 *
 * Invariants
 * 1. Nothing here throws or waits long: without the file each process is on its own, and says so once.
 * 2. A bucket's pause only grows, and its size is that of the latest refusal, whichever process writes last.
 * 3. No key and no address is in it: a bucket has a name that tells neither.
 */
import { closeSync, openSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Clock } from '../../schema/clock.ts';
import { describeError } from '../../schema/errors.ts';
import { makePrivateDirectory } from '../../system/home.ts';
import {
  createSharedFile,
  inTransaction,
  migrate,
  requireKnownVersion,
  schemaVersion,
} from '../../system/sqlite/database.ts';

const MACHINE_MIGRATIONS: readonly string[] = [
  `CREATE TABLE rates (
     bucket TEXT PRIMARY KEY,
     size INTEGER NOT NULL,
     limited_at INTEGER NOT NULL,
     paused_until INTEGER NOT NULL,
     succeeded_at INTEGER
   ) STRICT, WITHOUT ROWID;`,
];

/** Times are in milliseconds since the epoch. */
export interface SharedRate {
  /** How many requests of one process may be under way, by the latest refusal. */
  size: number;
  /** When a provider refused last. */
  limitedAt: number;
  /** Nobody sends before. */
  pausedUntil: number;
  /** When a request succeeded last; null when nobody has told. */
  succeededAt: number | null;
}

export interface RateStore {
  /** Null when nothing is known of the bucket. */
  read(bucket: string): SharedRate | null;
  write(bucket: string, rate: SharedRate): void;
  close(): void;
}

/** Between turns of the event loop: a lock that lasts longer is a failure. */
const BUSY_TIMEOUT_MS = 50;
const OFF_AFTER_FAILURE_MS = 60_000;
const OLD_AFTER_MS = 86_400_000;
/**
 * The longest pause that is believed, a little more than a month: a time further ahead is of a clock that was wrong.
 */
export const LONGEST_PAUSE_MS: number = 35 * 86_400_000;
/** What was written longer ago than this is over, unless a pause was named that lasts longer. */
const RECENT_MS = 3_600_000;
/** An empty file beside the other; its time is when the longest of such pauses ends. */
const LONG_PAUSE_MARK = '-pause';

const READ = 'SELECT size, limited_at, paused_until, succeeded_at FROM rates WHERE bucket = ?';
const WRITE = `
  INSERT INTO rates (bucket, size, limited_at, paused_until, succeeded_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (bucket) DO UPDATE SET
    size = iif(excluded.limited_at >= limited_at, excluded.size, size),
    limited_at = max(excluded.limited_at, limited_at),
    paused_until = max(excluded.paused_until, paused_until),
    succeeded_at = max(coalesce(excluded.succeeded_at, succeeded_at), coalesce(succeeded_at, excluded.succeeded_at))`;

const FORGET = 'DELETE FROM rates WHERE max(limited_at, paused_until) NOT BETWEEN ? AND ?';

interface Connection {
  readonly db: DatabaseSync;
  readonly inode: number;
  readonly read: StatementSync;
  readonly write: StatementSync;
  readonly forget: StatementSync;
}

export interface MachineRatesOptions {
  home: string;
  clock: Clock;
  /** Called once, with one line. */
  warn: (message: string) => void;
}

export function machineRatesPath(home: string): string {
  return join(home, 'machine.sqlite');
}

export class MachineRates implements RateStore {
  readonly #options: MachineRatesOptions;
  readonly #file: string;
  #connection: Connection | null = null;
  #offUntil = 0;
  #warned = false;

  constructor(options: MachineRatesOptions) {
    this.#options = options;
    this.#file = machineRatesPath(options.home);
  }

  read(bucket: string): SharedRate | null {
    return this.#guarded(() => {
      const row = this.#isQuiet() ? undefined : this.#connect()?.read.get(bucket);
      if (row === undefined) return null;
      return {
        size: Number(row.size),
        limitedAt: Number(row.limited_at),
        pausedUntil: Number(row.paused_until),
        succeededAt: row.succeeded_at === null ? null : Number(row.succeeded_at),
      };
    });
  }

  write(bucket: string, { size, limitedAt, pausedUntil, succeededAt }: SharedRate): void {
    this.#guarded(() => {
      const connection = this.#connect() ?? this.#create();
      if (connection === null) return null;
      const now = Math.round(this.#options.clock.now());
      connection.forget.run(now - OLD_AFTER_MS, now + LONGEST_PAUSE_MS);
      const succeeded = succeededAt === null ? null : Math.round(succeededAt);
      // Up, not down: a request that is sent too early is refused again.
      connection.write.run(bucket, size, Math.round(limitedAt), Math.ceil(pausedUntil), succeeded);
      if (pausedUntil > now + RECENT_MS / 2) this.#mark(pausedUntil);
      return null;
    });
  }

  close(): void {
    this.#connection?.db.close();
    this.#connection = null;
  }

  #guarded<Result>(work: () => Result | null): Result | null {
    if (this.#options.clock.now() < this.#offUntil) return null;
    try {
      return work();
    } catch (error) {
      this.#fail(error);
      return null;
    }
  }

  #fail(error: unknown): void {
    this.#offUntil = this.#options.clock.now() + OFF_AFTER_FAILURE_MS;
    if (this.#warned) return;
    this.#warned = true;
    this.#options.warn(
      `rate limits are not shared with other processes: cannot use ${this.#file}: ${describeError(error)}; check its directory, or remove it`,
    );
  }

  /** Whether it is not open and nobody has written it for long: opening it would cost a millisecond for nothing. */
  #isQuiet(): boolean {
    if (this.#connection !== null) return false;
    const since = this.#options.clock.now() - RECENT_MS;
    return ['', '-wal', LONG_PAUSE_MARK].every((end) => {
      const found = statSync(this.#file + end, { throwIfNoEntry: false });
      return found === undefined || found.mtimeMs < since;
    });
  }

  /** For processes that start hours later: they would not open the file. */
  #mark(until: number): void {
    const file = this.#file + LONG_PAUSE_MARK;
    const marked = statSync(file, { throwIfNoEntry: false });
    if (marked !== undefined && marked.mtimeMs >= until) return;
    if (marked === undefined) closeSync(openSync(file, 'a', 0o600));
    const time = until / 1_000;
    utimesSync(file, time, time);
  }

  /** Null while there is no file. One that was removed or replaced is left for the one that is there now. */
  #connect(): Connection | null {
    const found = statSync(this.#file, { throwIfNoEntry: false });
    if (found !== undefined && this.#connection?.inode === found.ino) return this.#connection;
    this.close();
    if (found === undefined) return null;
    const db = new DatabaseSync(this.#file, { timeout: BUSY_TIMEOUT_MS });
    try {
      this.#connection = this.#prepare(db, found.ino);
    } catch (error) {
      db.close();
      throw error;
    }
    return this.#connection;
  }

  #prepare(db: DatabaseSync, inode: number): Connection {
    const version = schemaVersion(db);
    requireKnownVersion(this.#file, version, MACHINE_MIGRATIONS);
    // What is lost with the machine's power would be forgotten soon anyway.
    db.exec('PRAGMA synchronous = OFF');
    if (version < MACHINE_MIGRATIONS.length) inTransaction(db, () => migrate(db, MACHINE_MIGRATIONS));
    return { db, inode, read: db.prepare(READ), write: db.prepare(WRITE), forget: db.prepare(FORGET) };
  }

  #create(): Connection | null {
    makePrivateDirectory(this.#options.home);
    createSharedFile(this.#file, MACHINE_MIGRATIONS, true);
    return this.#connect();
  }
}
