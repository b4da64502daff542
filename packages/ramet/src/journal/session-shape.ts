/**
 * Whether the number in a session's file fits the tables that it has. Where it does not, the number is damaged: the
 * tables say what the file is.
 */
import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { UserMistake } from '../schema/errors.ts';
import { requireKnownVersion, schemaVersion } from '../system/sqlite/database.ts';
import { damagedVersion } from '../system/sqlite/sqlite-failure.ts';
import { readWitness } from './integrity.ts';
import { SESSION_MIGRATIONS, SESSION_SHAPES } from './session-schema.ts';

/** The size of a file whose maker ended before it made a table. */
const PAGE_BYTES = 4_096;

/** Throws for a session that is damaged, was never filled or is of a newer version. */
export function requireShape(file: string, db: DatabaseSync): void {
  // Looked at first: while a session is made these grow after its tables are there.
  const hasContents = holdsMoreThanHeader(file);
  // One moment for both: another process may be making or migrating the session now.
  db.exec('BEGIN');
  const version = schemaVersion(db);
  const fitting = versionByTables(db);
  const pages = Number(db.prepare('PRAGMA page_count').get()?.page_count);
  db.exec('COMMIT');
  if (!mayBe(version, fitting)) throw damagedVersion(file, version);
  requireKnownVersion(file, version, SESSION_MIGRATIONS);
  if (version === 0 && fitting === 0 && pages <= 1 && !hasContents) throw neverFilled(file);
  requireTables(db, version);
  if (version <= 0) throw damagedVersion(file, version);
}

/** A newer version may have any tables, also those that are known here. */
function mayBe(version: number, fitting: number | null): boolean {
  if (fitting === null || fitting === 0 || fitting === version) return true;
  return version > SESSION_MIGRATIONS.length;
}

/** Null when they are those of no version; 0 when there are none. */
export function versionByTables(db: DatabaseSync): number | null {
  const rows = db
    .prepare(
      `SELECT name || '(' || coalesce((SELECT group_concat(name) FROM pragma_table_xinfo(entry.name)), '') || ')' AS shape
       FROM sqlite_schema AS entry WHERE name NOT LIKE 'sqlite_autoindex%' ORDER BY entry.name`,
    )
    .all();
  const version = SESSION_SHAPES.indexOf(rows.map(({ shape }) => shape).join(' '));
  return version === -1 ? null : version;
}

function holdsMoreThanHeader(file: string): boolean {
  return (
    (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > PAGE_BYTES || (readWitness(file)?.seq ?? 0) > 0
  );
}

/** A damaged first page shows only once its tables are used; here it can be reported. */
function requireTables(db: DatabaseSync, version: number): void {
  db.prepare('SELECT seq, time, agent, data FROM events');
  db.prepare('SELECT digest, bytes FROM blocks');
  if (version >= 2) db.prepare('SELECT key, value FROM meta');
}

function neverFilled(file: string): UserMistake {
  return new UserMistake(
    'session_empty',
    `${file} is empty: the process that made it ended before it wrote anything; remove it`,
  );
}
