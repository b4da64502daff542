/**
 * Reads the rows of a damaged journal whose pages nothing leads to any more: those that led there are damaged, or the
 * file was cut. SQLite reads each page of rows as if it were a whole table. What was no row of it shows: an event has
 * its check, a block its digest.
 */

import { writeFileSync } from 'node:fs';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import type { Digest, JournalEvent, RecordedEvent } from '../schema/events.ts';
import { digestOf } from '../system/digest.ts';
import { PRIVATE_FILE } from '../system/home.ts';
import { migrate, schemaVersion } from '../system/sqlite/database.ts';
import { bytesOf, openInMemory } from '../system/sqlite/memory-copy.ts';
import { EventCheck } from './integrity.ts';
import { SESSION_MIGRATIONS } from './session-schema.ts';
import { versionByTables } from './session-shape.ts';

/** Where a file says how many pages it has, and which of them are unused. */
const PAGES_AT = 28;

const PAGE_BYTES = 4_096;

/** The first byte of a page that holds rows. */
const LEAF = 0x0d;

export interface LooseRows {
  /** By number. */
  events: Map<number, RecordedEvent>;
  blocks: Map<Digest, Uint8Array>;
}

export function looseRows(file: string): LooseRows {
  const bytes = mendedBytes(file);
  const found: LooseRows = { events: new Map(), blocks: new Map() };
  const check = new EventCheck();
  using db = new DatabaseSync(':memory:', { defensive: false });
  db.deserialize(bytes);
  for (let page = 2; page * PAGE_BYTES <= bytes.length; page++) {
    if (bytes[(page - 1) * PAGE_BYTES] !== LEAF) continue;
    // Resetting makes SQLite read its schema again.
    db.exec(`PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET rootpage = ${page} WHERE name IN ('events', 'blocks');
      PRAGMA writable_schema = RESET`);
    for (const row of rowsOf(db, 'SELECT seq, time, agent, data, crc FROM events')) {
      const recorded = recordedIn(row, check);
      if (recorded !== null) found.events.set(recorded.seq, recorded);
    }
    for (const [digest, block] of rowsOf(db, 'SELECT digest, bytes FROM blocks NOT INDEXED')) {
      if (block instanceof Uint8Array && digestOf(block) === digest) found.blocks.set(digest, block);
    }
  }
  return found;
}

function recordedIn(row: readonly SQLOutputValue[], check: EventCheck): RecordedEvent | null {
  const [seq, time, agent, data, crc] = row;
  if (typeof seq !== 'number' || typeof time !== 'number' || typeof data !== 'string') return null;
  if (agent !== null && typeof agent !== 'string') return null;
  if (check.of(time, agent, data) !== crc) return null;
  // It is what a SessionWriter wrote, byte by byte: the check says so.
  return { seq, time, agent, event: JSON.parse(data) as JournalEvent };
}

/** Up to the first that cannot be read. */
function* rowsOf(db: DatabaseSync, sql: string): Iterable<readonly SQLOutputValue[]> {
  try {
    const statement = db.prepare(sql);
    statement.setReturnArrays(true);
    // Arrays, as the statement gives them.
    yield* statement.iterate() as unknown as Iterable<readonly SQLOutputValue[]>;
  } catch {
    // What follows is lost.
  }
}

/**
 * Makes a journal readable whose first page is damaged. If only its version is, the tables tell the right one. Otherwise
 * a new journal's first page takes its place: that page says only which tables there are and where they begin, and it is
 * the same in all journals of this version.
 *
 * Writes it to `mended`, and leaves `file` alone.
 */
export function mendFirstPage(file: string, mended: string): void {
  writeFileSync(mended, withRightVersion(file) ?? mendedBytes(file), { mode: PRIVATE_FILE });
}

/** Null where the version is not what is wrong. */
function withRightVersion(file: string): Buffer | null {
  try {
    using db = openInMemory(file);
    const version = versionByTables(db);
    if (version === null || version === 0 || version === schemaVersion(db)) return null;
    db.exec(`PRAGMA user_version = ${version}`);
    return Buffer.from(db.serialize());
  } catch {
    return null;
  }
}

/** Where the file was cut, pages in which each table would begin follow, empty: SQLite asks for them. */
function mendedBytes(file: string): Buffer {
  const bytes = bytesOf(file);
  const fresh = freshJournal();
  const pages = Math.max(fresh.length / PAGE_BYTES, Math.ceil(bytes.length / PAGE_BYTES));
  const mended = Buffer.alloc(pages * PAGE_BYTES);
  bytes.copy(mended);
  fresh.copy(mended, 0, 0, PAGE_BYTES);
  mended.writeUInt32BE(pages, PAGES_AT);
  return mended;
}

function freshJournal(): Buffer {
  using db = new DatabaseSync(':memory:');
  migrate(db, SESSION_MIGRATIONS);
  return Buffer.from(db.serialize());
}
