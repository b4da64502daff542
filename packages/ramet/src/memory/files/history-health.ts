/** Whether the history of a store can be one, by its first bytes: sessions ask at their start, where SQLite would cost too much. */
import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../schema/errors.ts';

export function historyFile(store: string): string {
  return join(store, 'history.sqlite');
}

export function damagedHistory(store: string): string {
  return `cannot use the history of memory in ${historyFile(store)}: it is damaged or no database; move it away and memory works again: the notes are in the files beside it, and only where their lines came from is lost`;
}

const BEGINNING = 'SQLite format 3\0';

/** Null for one that is fine, or missing. What cannot be read is told by who needs it. */
export function historyProblem(store: string): string | null {
  const bytes = Buffer.alloc(BEGINNING.length);
  try {
    const file = openSync(historyFile(store), 'r');
    try {
      const length = readSync(file, bytes);
      return length === 0 || bytes.toString('latin1') === BEGINNING ? null : damagedHistory(store);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return systemCode(error) === 'EISDIR' ? damagedHistory(store) : null;
  }
}
