/**
 * Puts events into a session's file while its fence is ours (`lease.ts`). Several go with one statement, which compares
 * the fence as well: each call into SQLite costs about as much as an event.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { AgentId } from '../schema/ids.ts';

export type EventRow = readonly [time: number, agent: AgentId | null, data: string, crc: number];

/** Rows of one statement at most. */
export const MOST_ROWS = 16;

export class EventInsert {
  readonly #db: DatabaseSync;
  readonly #fence: number;
  readonly #statements: (StatementSync | undefined)[] = [];

  constructor(db: DatabaseSync, fence: string) {
    this.#db = db;
    this.#fence = Number(fence);
  }

  /** Returns the number of the last one; null, and nothing may be committed, when somebody else has the session. */
  put(events: readonly EventRow[]): number | bigint | null {
    let last: number | bigint | null = null;
    for (let at = 0; at < events.length; at += MOST_ROWS) {
      const rows = at === 0 && events.length <= MOST_ROWS ? events : events.slice(at, at + MOST_ROWS);
      const values: SQLInputValue[] = [];
      for (const row of rows) values.push(...row);
      const { changes, lastInsertRowid } = this.#ofRows(rows.length).run(...values);
      if (changes === 0) return null;
      last = lastInsertRowid;
    }
    return last;
  }

  #ofRows(rows: number): StatementSync {
    this.#statements[rows] ??= this.#prepare(rows);
    return this.#statements[rows];
  }

  #prepare(rows: number): StatementSync {
    const several = `* FROM (VALUES ${Array(rows).fill('(?, ?, ?, ?)').join()})`;
    return this.#db.prepare(
      `INSERT INTO events (time, agent, data, crc)
       SELECT ${rows === 1 ? '?, ?, ?, ?' : several}
       WHERE (SELECT value FROM meta WHERE key = 'fence') = '${this.#fence}'`,
    );
  }
}
