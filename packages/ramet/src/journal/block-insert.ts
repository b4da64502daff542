/** Puts blocks into a session's file, several with one statement. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

const COLUMNS = 2;
/** Blocks of one statement at most. */
const MOST_ROWS = 8;

export class BlockInsert {
  readonly #db: DatabaseSync;
  readonly #statements: (StatementSync | undefined)[] = [];

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** `values` are a digest and its bytes, then the next. A digest that is there keeps its bytes. */
  put(values: readonly SQLInputValue[]): void {
    const most = MOST_ROWS * COLUMNS;
    if (values.length <= most) this.#run(values);
    else for (let at = 0; at < values.length; at += most) this.#run(values.slice(at, at + most));
  }

  #run(values: readonly SQLInputValue[]): void {
    const rows = values.length / COLUMNS;
    if (rows === 0) return;
    this.#statements[rows] ??= this.#db.prepare(
      `INSERT OR IGNORE INTO blocks (digest, bytes) VALUES ${Array(rows).fill('(?, ?)').join()}`,
    );
    this.#statements[rows].run(...values);
  }
}
