import type { DatabaseSync } from 'node:sqlite';

/**
 * Runs `work` in one transaction that takes the write lock at once: taking it later, after a read, can fail
 * without waiting. On any failure nothing of it remains.
 */
export function inTransaction<Result>(db: DatabaseSync, work: () => Result): Result {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    rollBack(db);
    throw error;
  }
}

/** SQLite has often rolled back by itself when a write fails. */
export function rollBack(db: DatabaseSync): void {
  try {
    if (db.isTransaction) db.exec('ROLLBACK');
  } catch {
    // The error that led here says more than this one; closing the file discards what is left.
  }
}
