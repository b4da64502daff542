/**
 * Brings SQLite files to the shape that their owner lists. A migration, once released, is never edited: a file holds the
 * number of the last one it went through in `user_version`, and a new file goes through all of them.
 *
 * Invariants
 * 1. A file is migrated in one transaction: it has the old shape or the new one.
 * 2. A file from a newer version is not written to.
 */

import { closeSync, linkSync, openSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { JournalError, systemCode } from '../../schema/errors.ts';
import { newSessionId } from '../../schema/ids.ts';
import { PRIVATE_FILE } from '../home.ts';

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

/**
 * Makes SQLite files that many processes open: the index of a repository, what a machine knows.
 *
 * Made aside and linked into place, so a reader finds it whole. An existing file stays as it is. `fleeting` saves the
 * wait for the disk if losing the whole file does no harm.
 */
export function createSharedFile(file: string, migrations: readonly string[], fleeting = false): void {
  const aside = `${file}.${newSessionId()}`;
  try {
    closeSync(openSync(aside, 'wx', PRIVATE_FILE));
    const db = new DatabaseSync(aside);
    if (fleeting) db.exec('PRAGMA synchronous = OFF');
    db.exec('PRAGMA journal_mode = WAL');
    inTransaction(db, () => migrate(db, migrations));
    db.close();
    linkSync(aside, file);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}
