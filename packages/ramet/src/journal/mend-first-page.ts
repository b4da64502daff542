/**
 * Makes a journal readable whose first page is damaged. That page says only which tables there are and where they begin,
 * and it is the same in all journals of this version: a new one's takes its place.
 */
import { writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { PRIVATE_FILE } from './home.ts';
import { bytesOf } from './memory-copy.ts';
import { migrate, SESSION_MIGRATIONS } from './migrations.ts';

/** Where a file says how many pages it has, and which of them are unused. */
const PAGES_AT = 28;

/** Writes it to `mended`, and leaves `file` alone. False when nothing can be read of it all the same. */
export function mendFirstPage(file: string, mended: string): boolean {
  const bytes = bytesOf(file);
  const first = firstPage();
  const pages = Math.floor(bytes.length / first.length);
  if (pages < 2) return false;
  first.copy(bytes);
  bytes.writeUInt32BE(pages, PAGES_AT);
  writeFileSync(mended, bytes, { mode: PRIVATE_FILE });
  return holdsEvents(mended);
}

function firstPage(): Buffer {
  using db = new DatabaseSync(':memory:');
  migrate(db, SESSION_MIGRATIONS);
  const whole = Buffer.from(db.serialize());
  return whole.subarray(0, whole.readUInt16BE(16));
}

function holdsEvents(file: string): boolean {
  try {
    using db = new DatabaseSync(file, { readOnly: true });
    return db.prepare('SELECT seq, data FROM events LIMIT 1').get() !== undefined;
  } catch {
    return false;
  }
}
