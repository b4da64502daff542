/**
 * A SQLite file that several processes write at once: a record, not a cache. It is never put aside or made again while it
 * has something in it: whatever is wrong with it is said, and left to a person.
 *
 * Invariants
 * 1. A change is one transaction that has the write lock from its beginning.
 * 2. `synced` changes survive a power cut; `written` ones survive the end of the process.
 * 3. A process that waits for the lock tries again after a short random time, at most 1 ms at first and 20 ms after some tries. SQLite's own wait grows
 *    up to 100 ms, and starves those who have waited longest.
 */
import { statSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { describeError, JournalError, RametError } from '../../schema/errors.ts';
import { inTransaction, migrate, requireKnownVersion, requireSharedFile, schemaVersion } from './database.ts';
import { DiskWait } from './disk-wait.ts';
import { diskReason, isBusy, isDamaged } from './sqlite-failure.ts';

const LONGEST_WAIT_MS = 20_000;
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 20;

export type SharedRow = Record<string, SQLOutputValue>;

export type Durability = 'written' | 'synced';

interface SharedFile {
  file: string;
  migrations: readonly string[];
  /** What it holds, for messages: `the teams of this repository`. */
  holds: string;
  /** What a person can do about a damaged one. */
  remedy: string;
}

export class SharedDatabase implements Disposable {
  readonly file: string;
  readonly #shared: SharedFile;
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #durability: Durability = 'written';
  #seen: SQLOutputValue | undefined;
  #disk: DiskWait | null = null;

  /** Makes the file if it is missing. */
  constructor(shared: SharedFile) {
    this.#shared = shared;
    this.file = shared.file;
    this.#db = this.#explaining(() => this.#open());
  }

  #open(): DatabaseSync {
    const { migrations } = this.#shared;
    requireSharedFile(this.file, migrations);
    const db = new DatabaseSync(this.file, { timeout: 0 });
    try {
      const version = retrying(() => schemaVersion(db));
      requireKnownVersion(this.file, version, migrations);
      // A copy that was put back may have lost it (`VACUUM INTO`): without the log nothing can wait for the disk.
      retrying(() => db.exec('PRAGMA journal_mode = WAL'));
      retrying(() => db.exec('PRAGMA synchronous = NORMAL'));
      if (version < migrations.length) inTransaction(db, () => migrate(db, migrations), retrying);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  }

  rows(sql: string, ...values: readonly SQLInputValue[]): SharedRow[] {
    return this.#explaining(() => retrying(() => this.#prepared(sql).all(...values)));
  }

  row(sql: string, ...values: readonly SQLInputValue[]): SharedRow | undefined {
    return this.#explaining(() => retrying(() => this.#prepared(sql).get(...values)));
  }

  /** One statement that is a transaction by itself. */
  change(sql: string, ...values: readonly SQLInputValue[]): SharedRow | undefined {
    this.#setDurability('written');
    return this.row(sql, ...values);
  }

  /**
   * As `change`, synced; says whether it changed anything. SQLite keeps what a `RETURNING` gives in a table of its own while it
   * has the lock, so where many wait for it, to read the row afterwards is faster.
   */
  changesSynced(sql: string, ...values: readonly SQLInputValue[]): boolean {
    this.#setDurability('synced');
    return this.#explaining(() => retrying(() => this.#prepared(sql).run(...values).changes !== 0));
  }

  /** Runs `work` in one transaction, which may be one that is under way; on any failure nothing of it remains. */
  write<Result>(durability: Durability, work: () => Result): Result {
    if (this.#db.isTransaction) return work();
    return this.#explaining(() => {
      this.#setDurability(durability);
      return inTransaction(this.#db, work, retrying);
    });
  }

  /** Whether another connection has committed something since this was last asked. */
  changedByOthers(): boolean {
    const { data_version: version } = this.row('PRAGMA data_version') ?? {};
    const isChanged = version !== this.#seen;
    this.#seen = version;
    return isChanged;
  }

  /** Resolves when everything that this connection has committed is on disk. Nothing else waits for the disk meanwhile. */
  synced(): Promise<void> {
    this.#disk ??= new DiskWait(`${this.file}-wal`);
    return this.#disk.wait();
  }

  #setDurability(wanted: Durability): void {
    if (wanted === this.#durability || this.#db.isTransaction) return;
    this.#db.exec(`PRAGMA synchronous = ${wanted === 'synced' ? 'FULL' : 'NORMAL'}`);
    this.#durability = wanted;
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #explaining<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw error instanceof RametError ? error : unusable(this.#shared, error);
    }
  }

  [Symbol.dispose](): void {
    this.#disk?.[Symbol.dispose]();
    if (this.#db.isOpen) this.#db.close();
  }
}

/**
 * The lock is held for less than a millisecond at a time, so a short sleep of the thread is the shortest wait. Where many
 * wait, each sleeps longer: to hand the lock on costs more than the change, since the next one reads every page again.
 */
function retrying<Result>(work: () => Result): Result {
  let since: number | null = null;
  for (let longest = FIRST_PAUSE_MS; ; longest = Math.min(2 * longest, LONGEST_PAUSE_MS)) {
    try {
      return work();
    } catch (error) {
      since ??= performance.now();
      if (!isBusy(error) || performance.now() - since > LONGEST_WAIT_MS) throw error;
      pause(longest * (0.1 + 0.9 * Math.random()));
    }
  }
}

const asleep = new Int32Array(new SharedArrayBuffer(4));

function pause(ms: number): void {
  Atomics.wait(asleep, 0, 0, ms);
}

function unusable(shared: SharedFile, error: unknown): JournalError {
  const [reason, remedy] = explain(shared, error);
  const message = `cannot use ${shared.holds} in ${shared.file}: ${reason}; ${remedy}`;
  return new JournalError('record_unusable', 'terminal', message, { cause: error });
}

function explain({ file, remedy }: SharedFile, error: unknown): readonly [reason: string, remedy: string] {
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) return ['it is a directory', 'move it away'];
  if (isDamaged(error)) return ['it is damaged, or not a database', remedy];
  if (isBusy(error)) return ['another process holds its lock', 'end that process, then try again'];
  return diskReason(file, error) ?? [describeError(error), 'check the file and its directory'];
}
