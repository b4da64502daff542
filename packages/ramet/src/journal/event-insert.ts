/**
 * Puts events and blocks into a session's file. Events go in only while the fence is ours (`lease.ts`). Several go with one
 * statement, which compares the fence as well: each call into SQLite costs about as much as an event.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { AgentId } from '../schema/ids.ts';

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

export class EventInsert {
  readonly #db: DatabaseSync;
  readonly #fence: number;
  readonly #statements: (StatementSync | undefined)[] = [];

  constructor(db: DatabaseSync, fence: string) {
    this.#db = db;
    this.#fence = Number(fence);
  }

  /** Returns the number of the last one; null, and nothing may be committed, when another process has the session. */
  put({ values, areFew }: PendingEvents): number | bigint | null {
    if (areFew) return this.#run(values);
    let last: number | bigint | null = null;
    for (let at = 0; at < values.length; at += MOST_VALUES) {
      last = this.#run(values.slice(at, at + MOST_VALUES));
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
    const most = MOST_BLOCKS * BLOCK_COLUMNS;
    if (values.length <= most) this.#run(values);
    else for (let at = 0; at < values.length; at += most) this.#run(values.slice(at, at + most));
  }

  #run(values: readonly SQLInputValue[]): void {
    const rows = values.length / BLOCK_COLUMNS;
    if (rows === 0) return;
    this.#statements[rows] ??= this.#db.prepare(
      `INSERT OR IGNORE INTO blocks (digest, bytes) VALUES ${Array(rows).fill('(?, ?)').join()}`,
    );
    this.#statements[rows].run(...values);
  }
}
