/**
 * The kernel's word on who writes a session: an exclusive transaction on an empty file beside the journal, held as long
 * as the journal is open. Every process of this machine sees it, whatever its pid namespace, and it ends with its
 * holder, however that dies; a process that is stopped keeps it.
 *
 * The file is never removed while its session exists: whoever waited for the old file would hold a lock that nobody
 * else sees. Nor is it ever opened by other means than SQLite: closing any descriptor of it drops this process's lock.
 */
import { closeSync, existsSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { systemCode } from '../schema/errors.ts';
import { PRIVATE_FILE } from './home.ts';
import { isBusy } from './sqlite-failure.ts';

/** Others look at a lock for some microseconds at a time; whoever waits longer waits for a writer. */
const PATIENCE_MS = 250;

export interface SessionLock {
  /** The file was not there: whether somebody had locked another one in its place is unknown. */
  readonly isNew: boolean;
  release(): void;
}

export function lockPath(file: string): string {
  return file.replace(/\.sqlite$/, '.lock');
}

/** Null while another holds it. `file` is the session's. */
export function takeSessionLock(file: string): SessionLock | null {
  const path = lockPath(file);
  const isNew = makeLockFile(path);
  const db = new DatabaseSync(path, { timeout: PATIENCE_MS });
  try {
    db.exec('BEGIN EXCLUSIVE');
    return { isNew, release: () => db.close() };
  } catch (error) {
    db.close();
    if (isBusy(error)) return null;
    throw error;
  }
}

/** Null where there is no lock to look at. Needs no right to write. */
export function isSessionLocked(file: string): boolean | null {
  const path = lockPath(file);
  if (!existsSync(path)) return null;
  try {
    using db = new DatabaseSync(path, { readOnly: true, timeout: 0 });
    db.prepare('SELECT 1 FROM sqlite_schema').get();
    return false;
  } catch (error) {
    return isBusy(error) ? true : null;
  }
}

/** True when it was made now. */
function makeLockFile(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', PRIVATE_FILE));
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}
