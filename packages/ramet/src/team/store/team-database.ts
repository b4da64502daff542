/**
 * `teams.sqlite` beside the index of a repository: a record that several processes write. It is never put aside or made
 * again while it has something in it: whatever is wrong with it is said, and left to a person.
 *
 * Invariants
 * 1. A change is one transaction that has the write lock from its beginning.
 * 2. `synced` changes survive a power cut. Claims need not: the process that made one is dead then too, and claims of
 *    dead processes are released.
 * 3. A process that waits for the lock tries again after a short random time. SQLite's own wait grows up to 100 ms, and
 *    starves those who have waited longest.
 */
import { existsSync, statSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { describeError, JournalError, RametError } from '../../schema/errors.ts';
import { DISK_TROUBLES, diskTroubleAt } from '../../system/disk-trouble.ts';
import {
  createSharedFile,
  inTransaction,
  migrate,
  requireKnownVersion,
  schemaVersion,
} from '../../system/sqlite/database.ts';
import { isBusy, isDamaged } from '../../system/sqlite/sqlite-failure.ts';
import { teamFile } from '../wake-line.ts';
import { TEAM_MIGRATIONS } from './team-schema.ts';

const LONGEST_WAIT_MS = 20_000;
const SHORTEST_PAUSE_MS = 0.1;
const LONGEST_PAUSE_MS = 1;

export type TeamRow = Record<string, SQLOutputValue>;

export type Durability = 'written' | 'synced';

export class TeamDatabase implements Disposable {
  readonly file: string;
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #durability: Durability = 'written';

  /** Makes the file if it is missing. */
  constructor(project: string) {
    this.file = teamFile(project);
    this.#db = this.#explaining(() => this.#open());
  }

  #open(): DatabaseSync {
    if (!existsSync(this.file)) createSharedFile(this.file, TEAM_MIGRATIONS);
    const db = new DatabaseSync(this.file, { timeout: 0 });
    try {
      const version = retrying(() => schemaVersion(db));
      requireKnownVersion(this.file, version, TEAM_MIGRATIONS);
      retrying(() => db.exec('PRAGMA synchronous = NORMAL'));
      if (version < TEAM_MIGRATIONS.length) inTransaction(db, () => migrate(db, TEAM_MIGRATIONS), retrying);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  }

  rows(sql: string, ...values: readonly SQLInputValue[]): TeamRow[] {
    return this.#explaining(() => retrying(() => this.#prepared(sql).all(...values)));
  }

  row(sql: string, ...values: readonly SQLInputValue[]): TeamRow | undefined {
    return this.#explaining(() => retrying(() => this.#prepared(sql).get(...values)));
  }

  /** One statement that is a transaction by itself. */
  change(sql: string, ...values: readonly SQLInputValue[]): TeamRow | undefined {
    this.#setDurability('written');
    return this.row(sql, ...values);
  }

  /** Runs `work` in one transaction, which may be one that is under way; on any failure nothing of it remains. */
  write<Result>(durability: Durability, work: () => Result): Result {
    if (this.#db.isTransaction) return work();
    return this.#explaining(() => {
      this.#setDurability(durability);
      return inTransaction(this.#db, work, retrying);
    });
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
      throw error instanceof RametError ? error : unusable(this.file, error);
    }
  }

  [Symbol.dispose](): void {
    if (this.#db.isOpen) this.#db.close();
  }
}

/** The lock is held for less than a millisecond at a time, so a short sleep of the thread is the shortest wait. */
function retrying<Result>(work: () => Result): Result {
  let since: number | null = null;
  for (;;) {
    try {
      return work();
    } catch (error) {
      since ??= performance.now();
      if (!isBusy(error) || performance.now() - since > LONGEST_WAIT_MS) throw error;
      pause(SHORTEST_PAUSE_MS + Math.random() * (LONGEST_PAUSE_MS - SHORTEST_PAUSE_MS));
    }
  }
}

const asleep = new Int32Array(new SharedArrayBuffer(4));

function pause(ms: number): void {
  Atomics.wait(asleep, 0, 0, ms);
}

function unusable(file: string, error: unknown): JournalError {
  const [reason, remedy] = explain(file, error);
  const message = `cannot use the teams of this repository in ${file}: ${reason}; ${remedy}`;
  return new JournalError('teams_unusable', 'terminal', message, { cause: error });
}

function explain(file: string, error: unknown): readonly [reason: string, remedy: string] {
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) return ['it is a directory', 'move it away'];
  if (isDamaged(error)) {
    return [
      'it is damaged, or not a database',
      'put a copy back, or move it away to begin without teams (sessions stay)',
    ];
  }
  if (isBusy(error)) return ['another process holds its lock', 'end that process, then try again'];
  const trouble = diskTroubleAt(file);
  return trouble === null
    ? [describeError(error), 'check the file and its directory']
    : DISK_TROUBLES[trouble];
}
