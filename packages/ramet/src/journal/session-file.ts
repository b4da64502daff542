/**
 * One SQLite file per session: how it is made, opened and named. Owns pragmas, file modes and the `meta` table;
 * leaves events to `writer.ts` and `reader.ts`, and who may write to `lease.ts`.
 *
 * Never open and close a session's file by other means than SQLite while a connection to it is open in this
 * process: closing any descriptor drops the process's POSIX locks, and another process may then delete the WAL.
 */
import { closeSync, existsSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { JournalError, systemCode, UserMistake } from '../schema/errors.ts';
import { isSessionId, newSessionId, type SessionId } from '../schema/ids.ts';
import { PRIVATE_FILE, unusable } from '../system/home.ts';
import { existingFile, inTransaction, openToRead, schemaVersion } from '../system/sqlite/database.ts';
import { openInMemory } from '../system/sqlite/memory-copy.ts';
import {
  emptied,
  isBusy,
  needsRoomBeside,
  readFailure,
  writeFailure,
} from '../system/sqlite/sqlite-failure.ts';
import { readWitness } from './integrity.ts';
import { NEWEST_SESSION } from './session-schema.ts';
import { requireShape } from './session-shape.ts';

/** Others check a lock for some microseconds at a time; a longer wait is for a writer. */
const PATIENCE_MS = 250;

const EXTENSION = '.sqlite';
/** How long a statement waits for a checkpoint's or another process's lock. */
const BUSY_TIMEOUT_MS = 5000;

export function sessionPath(project: string, session: SessionId): string {
  return join(project, session + EXTENSION);
}

/** The session a directory entry holds; null for anything else. */
export function sessionOfFile(name: string): SessionId | null {
  const id = name.endsWith(EXTENSION) ? name.slice(0, -EXTENSION.length) : '';
  return isSessionId(id) ? id : null;
}

/** Takes a new session's name for good: the file exists, empty, and is nobody else's. */
export function reserveSessionFile(project: string, newId: () => SessionId = newSessionId): SessionId {
  for (;;) {
    const session = newId();
    try {
      closeSync(openSync(sessionPath(project, session), 'wx', PRIVATE_FILE));
      return session;
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw unusable(project, error);
    }
  }
}

/** The same for a name that the caller has chosen. */
export function reserveNamedFile(project: string, session: SessionId): SessionId {
  let isTried = false;
  return reserveSessionFile(project, () => {
    if (isTried)
      throw new UserMistake('session_exists', `there is a session ${session} already: choose another id`);
    isTried = true;
    return session;
  });
}

/**
 * Fills a reserved file. Without a single wait for the disk, since a first model request waits for this:
 * `settleSessionFile` makes it survive a power cut, before the first commit that promises that.
 */
export function fillSessionFile(file: string, meta: Readonly<Record<string, string>>): DatabaseSync {
  return opening(
    file,
    () => openToWrite(file),
    writeFailure,
    (db) => {
      // In memory until the WAL is there: a file beside it would protect one page of a file that is still nothing.
      db.exec(
        'PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0',
      );
      inTransaction(db, () => {
        db.exec(NEWEST_SESSION);
        const facts = Object.entries(meta);
        db.prepare(`INSERT INTO meta (key, value) VALUES ${facts.map(() => '(?, ?)').join()}`).run(
          ...facts.flat(),
        );
      });
      db.exec('PRAGMA synchronous = NORMAL');
    },
  );
}

/** Opens a session to write it; `lease.ts` says whether one may. Makes no file. */
export function openSessionFile(file: string): DatabaseSync {
  refuseEmptied(file);
  return opening(
    file,
    () => openToWrite(file),
    writeFailure,
    (db) => {
      db.exec('PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = NORMAL');
    },
  );
}

/** Opens a session to read it. Checks its version, and that its maker lived long enough to fill it. */
export function openSessionFileReadOnly(
  file: string,
  { live = false }: { live?: boolean } = {},
): DatabaseSync {
  refuseEmptied(file);
  const check = (db: DatabaseSync): void => requireShape(file, db);
  try {
    return opening(file, () => openToRead(file, { timeout: BUSY_TIMEOUT_MS, live }), readFailure, check);
  } catch (error) {
    // SQLite cannot read beside a writer, or after one, where it cannot write.
    if (!needsRoomBeside(error)) throw error;
    return opening(
      file,
      () => openInMemory(file),
      () => readFailure(file, error),
      check,
    );
  }
}

/**
 * Makes the file itself, not only its WAL, survive a power cut: contents by a checkpoint, names by their directories.
 */
export function settleSessionFile(db: DatabaseSync, file: string): void {
  db.exec('PRAGMA wal_checkpoint(PASSIVE)');
  const project = dirname(file);
  syncDirectory(project);
  const named = `${inodeOf(project)} ${project}`;
  if (syncedNames.has(named)) return;
  for (const directory of [dirname(project), dirname(dirname(project))]) syncDirectory(directory);
  syncedNames.add(named);
}

/** Project directories, with their inodes, whose names this process has brought to the disk. */
const syncedNames = new Set<string>();

function syncDirectory(directory: string): void {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(directory, 'r');
    fsyncSync(descriptor);
  } catch {
    // A directory we may not read is not one we made: its name was on disk before. Some systems sync none.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** The session's own facts; empty for a file of version 1, which had no such table. */
export function readMeta(db: DatabaseSync): Readonly<Record<string, string>> {
  if (schemaVersion(db) < 2) return {};
  const rows = db.prepare('SELECT key, value FROM meta').all();
  return Object.fromEntries(rows.map((row) => [String(row.key), String(row.value)]));
}

/** Null for a session without a title, and where it cannot be read. */
export function titleIn(db: DatabaseSync): string | null {
  try {
    return readMeta(db).title ?? null;
  } catch {
    return null;
  }
}

export function writeMeta(db: DatabaseSync, key: string, value: string): void {
  db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)').run(key, value);
}

export function removeMeta(db: DatabaseSync, key: string): void {
  db.prepare('DELETE FROM meta WHERE key = ?').run(key);
}

function openToWrite(file: string): DatabaseSync {
  return new DatabaseSync(existingFile(file), { timeout: BUSY_TIMEOUT_MS });
}

function opening(
  file: string,
  open: () => DatabaseSync,
  explain: (file: string, error: unknown) => Error,
  prepare: (db: DatabaseSync) => void,
): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = open();
    prepare(db);
    return db;
  } catch (error) {
    db?.close();
    throw error instanceof UserMistake ? error : explain(file, error);
  }
}

/** SQLite deletes the WAL of an empty file when it opens it, and all that can still be saved is in that WAL. */
function refuseEmptied(file: string): void {
  const size = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (!existsSync(file) || size(file) > 0) return;
  if (size(`${file}-wal`) > 0 || (readWitness(file)?.seq ?? 0) > 0) throw emptied(file);
}

/**
 * The kernel's word on who writes a session: an exclusive transaction on an empty file beside the journal, held as long
 * as the journal is open. Every process of this machine sees it, whatever its pid namespace, and it ends with its
 * holder, however that dies; a process that is stopped keeps it.
 *
 * The file is never removed while its session exists: a process that waited for the old file would hold a lock that no
 * other sees. It is removed after its session and under its own lock; a process that waited checks whether it is still
 * there. It is never opened by other means than SQLite: closing any descriptor of it drops this process's lock.
 */
export interface SessionLock {
  /** The file was missing: whether another process had locked one in its place is unknown. */
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
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw lockIsDirectory(path);
    if (inodeOf(path) !== inode) return 'replaced';
    throw error;
  }
  const held = db;
  if (inode !== null && inodeOf(path) === inode) return { isNew, inode, release: () => held.close() };
  held.close();
  return 'replaced';
}

function lockIsDirectory(path: string): JournalError {
  const message = `cannot lock the session: ${path} is a directory; move it away, then try again`;
  return new JournalError('journal_not_locked', 'terminal', message);
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
