/** Whether the file of a session is what was written, for all that SQLite can tell. */
import type { DatabaseSync } from 'node:sqlite';

/**
 * Every page in its place, and each index the same as its table; a quicker check leaves the indexes out. It takes less
 * time than reading the events does.
 */
export function isSoundFile(db: DatabaseSync): boolean {
  try {
    if (db.prepare('PRAGMA integrity_check(1)').get()?.integrity_check !== 'ok') return false;
    // Nobody reads these: numbers begin with 1.
    return db.prepare('SELECT 1 FROM events WHERE seq < 1 LIMIT 1').get() === undefined;
  } catch {
    return false;
  }
}
