/**
 * Makes a journal readable whose first page is damaged. That page says only which tables there are and where they begin,
 * and it is the same in all journals of this version: a new one's takes its place.
 */
import { writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { PRIVATE_FILE } from '../system/home.ts';
import { bytesOf } from '../system/sqlite/memory-copy.ts';
import { migrate, SESSION_MIGRATIONS } from '../system/sqlite/migrations.ts';

/** Where a file says how many pages it has, and which of them are unused. */
const PAGES_AT = 28;

export const PAGE_BYTES = 4_096;

/** Writes it to `mended`, and leaves `file` alone. */
export function mendFirstPage(file: string, mended: string): void {
  writeFileSync(mended, mendedBytes(file), { mode: PRIVATE_FILE });
}

/** Where the file was cut, pages in which each table would begin follow, empty: SQLite asks for them. */
export function mendedBytes(file: string): Buffer {
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
