/**
 * The kernel's word on who writes a session: an exclusive transaction on an empty file beside the journal, held as long
 * as the journal is open. Every process of this machine sees it, whatever its pid namespace, and it ends with its
 * holder, however that dies; a process that is stopped keeps it.
 *
 * The file is never removed while its session exists: whoever waited for the old file would hold a lock that nobody
 * else sees. It goes after its session and under its own lock; whoever waited looks whether it is still there. Nor is it ever opened by other means than SQLite: closing any descriptor of it drops this process's lock.
 */
import { closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { systemCode } from '../schema/errors.ts';
import { PRIVATE_FILE } from '../system/home.ts';
import { existingFile } from '../system/sqlite/existing-file.ts';
import { isBusy } from '../system/sqlite/sqlite-failure.ts';

/** Others look at a lock for some microseconds at a time; whoever waits longer waits for a writer. */
const PATIENCE_MS = 250;

export interface SessionLock {
  /** The file was not there: whether somebody had locked another one in its place is unknown. */
  readonly isNew: boolean;
  /** Of the lock file: a copy of the session has another. */
  readonly inode: number;
  release(): void;
}

export function lockPath(file: string): string {
  return file.replace(/\.sqlite$/, '.lock');
}

/** Null while another holds it. `file` is the session's. */
export function takeSessionLock(file: string): SessionLock | null {
  for (;;) {
    const lock = tryLock(lockPath(file));
    if (lock !== 'replaced') return lock;
  }
}

/** `replaced`: it was removed while this waited for it, so the lock is one that nobody else sees. */
function tryLock(path: string): SessionLock | null | 'replaced' {
  const isNew = makeLockFile(path);
  const inode = inodeOf(path);
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(existingFile(path), { timeout: PATIENCE_MS });
    // Nothing is ever written to it, and a journal beside it would need room: on a full disk `ramet gc` locks too.
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    db?.close();
    if (isBusy(error)) return null;
    if (inodeOf(path) !== inode) return 'replaced';
    throw error;
  }
  const held = db;
  if (inode !== null && inodeOf(path) === inode) return { isNew, inode, release: () => held.close() };
  held.close();
  return 'replaced';
}

/** By the holder of the lock, after the session itself. */
export function removeLockFile(file: string): void {
  for (const suffix of ['', '-journal']) rmSync(`${lockPath(file)}${suffix}`, { force: true });
}

/** Null where there is no lock file. */
export function lockInode(file: string): number | null {
  return inodeOf(lockPath(file));
}

function inodeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? null;
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
