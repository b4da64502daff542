/**
 * Opens SQLite files, to write or to read, and brings them to the shape that their owner lists. A migration, once released,
 * is never edited: a file has the number of its last one in `user_version`, and a new file goes through all of them.
 *
 * Invariants
 * 1. A file is migrated in one transaction: it has the old shape or the new one.
 * 2. A file from a newer version is not written to.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { JournalError, RametError, systemCode } from '../../schema/errors.ts';
import { newSessionId } from '../../schema/ids.ts';
import { diskTroubleAt } from '../disk-trouble.ts';
import { PRIVATE_FILE } from '../home.ts';
import { openInMemory } from './memory-copy.ts';
import { isBusy, writeTrouble } from './sqlite-failure.ts';

export function schemaVersion(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.user_version);
}

/** Throws for a file that a newer Ramet wrote. */
export function requireKnownVersion(file: string, version: number, migrations: readonly string[]): void {
  if (version <= migrations.length) return;
  throw new JournalError(
    'journal_too_new',
    'mistake',
    `${file} has schema version ${version} and this ramet knows up to ${migrations.length}: update ramet to use it`,
  );
}

/** Brings a file to the newest shape inside the caller's transaction. */
export function migrate(db: DatabaseSync, migrations: readonly string[]): void {
  const version = schemaVersion(db);
  if (version >= migrations.length) return;
  for (const step of migrations.slice(version)) db.exec(step);
  db.exec(`PRAGMA user_version = ${migrations.length}`);
}

/**
 * Runs `work` in one transaction that takes the write lock at once: taking it later, after a read, can fail
 * without waiting. On any failure nothing of it remains. `waiting` gets the lock where SQLite's own wait is not wanted.
 */
export function inTransaction<Result>(
  db: DatabaseSync,
  work: () => Result,
  waiting: (begin: () => void) => void = (begin) => begin(),
): Result {
  waiting(() => db.exec('BEGIN IMMEDIATE'));
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

/**
 * Makes SQLite files that many processes open: the index of a repository, what a machine knows.
 *
 * Made in memory, written aside and linked into place: a reader finds it whole, and on a full disk none is there (SQLite itself does
 * not tell that it could not copy its log into the file). An existing file stays as it is. `fleeting` saves the
 * wait for the disk if losing the whole file does no harm.
 */
export function createSharedFile(file: string, migrations: readonly string[], fleeting = false): void {
  const aside = `${file}${MAKING}${newSessionId()}`;
  try {
    const descriptor = openSync(aside, 'wx', PRIVATE_FILE);
    try {
      writeFileSync(descriptor, newDatabase(migrations));
      if (!fleeting) fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    linkSync(aside, file);
  } catch (error) {
    // Another process was faster, and may have removed ours.
    const isMade = ['EEXIST', 'ENOENT'].includes(systemCode(error) ?? '') && existsSync(file);
    if (!isMade) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
  removeUnfinished(file);
}

/** Makes the file if it is missing, and removes what a process that was killed while it made it has left beside it. */
export function requireSharedFile(file: string, migrations: readonly string[]): void {
  const links = statSync(file, { throwIfNoEntry: false })?.nlink;
  if (links === undefined) createSharedFile(file, migrations);
  // It was linked, and its other name is still there.
  else if (links > 1) removeUnfinished(file);
}

const MAKING = '.making-';

/** Who still makes one finds out that the file is there. */
function removeUnfinished(file: string): void {
  const folder = dirname(file);
  for (const name of readdirSync(folder))
    if (name.startsWith(`${basename(file)}${MAKING}`)) rmSync(join(folder, name), { force: true });
}

/** Where the bytes of a file say whether it is used with a WAL. */
const WRITE_VERSION_AT = 18;
const WAL_MODE = 2;

function newDatabase(migrations: readonly string[]): Uint8Array {
  const db = new DatabaseSync(':memory:');
  try {
    inTransaction(db, () => migrate(db, migrations));
    return db.serialize().fill(WAL_MODE, WRITE_VERSION_AT, WRITE_VERSION_AT + 2);
  } finally {
    db.close();
  }
}

interface Reading {
  timeout: number;
  /** What is written later must be seen. */
  live?: boolean;
  troubleAt?: typeof diskTroubleAt;
}

/**
 * Opens a SQLite file that is used with a WAL to read it, and leaves no file beside it that was not there. SQLite keeps
 * two files beside one that is open; a connection that may write removes them when it is the last, one that may not
 * leaves them. So a reader opens a file with an empty WAL for writing, and does not write (`query_only`).
 */
export function openToRead(file: string, reading: Reading): DatabaseSync {
  const { timeout, live = false, troubleAt = diskTroubleAt } = reading;
  if ((sizeOf(`${file}-wal`) ?? 0) === 0) {
    // SQLite would begin its two files, find no room for them and leave them behind.
    const trouble = live ? null : troubleAt(file);
    return trouble === 'full' || trouble === 'read-only'
      ? openInMemory(file)
      : openLeavingNothing(file, timeout);
  }
  // With a WAL and without its index nobody has it open, and SQLite would leave an index behind.
  if (!live && sizeOf(`${file}-shm`) === null) return openInMemory(file);
  return new DatabaseSync(file, { readOnly: true, timeout });
}

function openLeavingNothing(file: string, timeout: number): DatabaseSync {
  const db = new DatabaseSync(existingFile(file), { timeout });
  try {
    db.exec('PRAGMA query_only = 1');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Null for a missing file. */
function sizeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null;
}

/** For SQLite, which would otherwise make a file that is not there, readable to everybody. */
export function existingFile(path: string): URL {
  const url = pathToFileURL(path);
  url.searchParams.set('mode', 'rw');
  return url;
}

/**
 * A lock that one holder at a time has, of this process or another; null if another has it. It is SQLite's own on a file and ends
 * with its process, however that ends: no lock is left behind, and no clock or process number is asked.
 */
export function tryProcessLock(file: string): Disposable | null {
  const db = openLock(file);
  try {
    db.exec('BEGIN EXCLUSIVE');
    return { [Symbol.dispose]: () => db.close() };
  } catch (error) {
    db.close();
    if (isBusy(error)) return null;
    throw lockFailure(file, error);
  }
}

function openLock(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file, { timeout: 0 });
  } catch (error) {
    throw lockFailure(file, error);
  }
}

function lockFailure(file: string, error: unknown): RametError {
  const message = `cannot lock ${file}: ${writeTrouble(file, error)}`;
  return new RametError('lock_unusable', 'terminal', message, { cause: error });
}
