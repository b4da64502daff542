/**
 * The shapes of our SQLite files through time. A migration, once released, is never edited: a file holds the
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

export const SESSION_MIGRATIONS: readonly string[] = [
  `CREATE TABLE events (
     seq INTEGER PRIMARY KEY,
     time INTEGER NOT NULL,
     agent TEXT,
     data TEXT NOT NULL
   );
   CREATE TABLE blocks (digest TEXT NOT NULL UNIQUE, bytes BLOB NOT NULL);`,
  // `type` is computed, so that it costs no space and cannot disagree with the event itself.
  `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
   ALTER TABLE events ADD COLUMN type TEXT GENERATED ALWAYS AS (data ->> 'type') VIRTUAL;`,
  // Null in events of earlier versions (event-check.ts).
  'ALTER TABLE events ADD COLUMN crc INTEGER;',
];

/** The first version whose events have a check beside them. */
export const CHECKED_EVENTS = 3;

export const INDEX_MIGRATIONS: readonly string[] = [
  `CREATE TABLE sessions (
     id TEXT PRIMARY KEY,
     created INTEGER NOT NULL,
     opened INTEGER NOT NULL,
     ended INTEGER,
     cwd TEXT NOT NULL,
     title TEXT
   ) WITHOUT ROWID;
   CREATE TABLE leases (
     session TEXT PRIMARY KEY,
     pid INTEGER NOT NULL,
     started TEXT,
     token TEXT NOT NULL
   ) WITHOUT ROWID;`,
  // What a worktree holds beyond these columns (`facts`) is JSON: only whole rows are read.
  `CREATE TABLE worktrees (
     id TEXT PRIMARY KEY,
     name TEXT NOT NULL,
     path TEXT NOT NULL,
     branch TEXT,
     base TEXT NOT NULL,
     state TEXT NOT NULL,
     session TEXT,
     agent TEXT,
     pid INTEGER,
     started TEXT,
     slot INTEGER NOT NULL,
     admin TEXT NOT NULL,
     created INTEGER NOT NULL,
     changed INTEGER NOT NULL,
     facts TEXT NOT NULL
   ) WITHOUT ROWID;`,
  // The merge queue (merge-entries.ts). It names nothing of the other tables.
  `CREATE TABLE merges (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     target TEXT NOT NULL,
     branch TEXT NOT NULL,
     tip TEXT NOT NULL,
     single INTEGER NOT NULL,
     strategy TEXT NOT NULL,
     state TEXT NOT NULL,
     reason TEXT,
     result TEXT,
     queued INTEGER NOT NULL,
     updated INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE merge_wishes (target TEXT PRIMARY KEY, wishes TEXT NOT NULL) STRICT, WITHOUT ROWID;`,
  // The check command that `result` has passed.
  'ALTER TABLE merges ADD COLUMN checked TEXT',
];

export const MACHINE_MIGRATIONS: readonly string[] = [
  `CREATE TABLE rates (
     bucket TEXT PRIMARY KEY,
     size INTEGER NOT NULL,
     limited_at INTEGER NOT NULL,
     paused_until INTEGER NOT NULL,
     succeeded_at INTEGER
   ) STRICT, WITHOUT ROWID;`,
];

/** Who changed which file and who committed it; times in milliseconds since the epoch. */
export const CHECKOUT_MIGRATIONS: readonly string[] = [
  `CREATE TABLE writes (
     path TEXT NOT NULL,
     agent TEXT NOT NULL,
     version TEXT,
     time INTEGER NOT NULL,
     task TEXT,
     command TEXT,
     settled TEXT,
     PRIMARY KEY (path, agent)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE staged (
     path TEXT NOT NULL,
     agent TEXT NOT NULL,
     entry TEXT NOT NULL,
     time INTEGER NOT NULL,
     PRIMARY KEY (path, agent)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE commits (id TEXT PRIMARY KEY, agent TEXT NOT NULL, time INTEGER NOT NULL) STRICT, WITHOUT ROWID;`,
];

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
