/** Goes through the blocks of a journal in the order in which they were stored, past what cannot be read. */
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { Digest } from '../schema/events.ts';
import { digestOf } from '../system/digest.ts';

const PAGE = 100;
/** After this many numbers in a row without a readable block the blocks have ended. */
const LONGEST_GAP = 1_000;

type Row = readonly [number: SQLOutputValue, digest: SQLOutputValue, value: SQLOutputValue];

export interface BlockScan {
  /** By digest; only what has it. */
  readonly sound: Iterable<readonly [Digest, Uint8Array]>;
  /** How many cannot be read, or are not what was stored; known once `sound` has been gone through. */
  lost(): number;
}

/** Compares the bytes of every block with its digest. */
export function checkedBlocks(db: DatabaseSync): BlockScan {
  let lost = 0;
  function* sound(): Iterable<readonly [Digest, Uint8Array]> {
    for (const row of scan(db, 'bytes')) {
      const bytes = row?.[2];
      const digest = String(row?.[1]);
      if (bytes instanceof Uint8Array && digestOf(bytes) === digest) yield [digest, bytes];
      else lost += 1;
    }
  }
  return { sound: sound(), lost: () => lost };
}

/** Whether each of these can be found by its digest: the index has them, in their order. */
export function isIndexWhole(db: DatabaseSync, digests: Iterable<Digest>): boolean {
  const sought = new Set(digests);
  try {
    const indexed = db.prepare(
      'SELECT digest FROM blocks INDEXED BY sqlite_autoindex_blocks_1 ORDER BY digest',
    );
    indexed.setReturnArrays(true);
    let last = '';
    for (const row of indexed.iterate()) {
      const digest = String((row as unknown as [SQLOutputValue])[0]); // an array, as the statement gives it
      if (digest <= last) return false;
      last = digest;
      sought.delete(digest);
    }
    return sought.size === 0;
  } catch {
    return false;
  }
}

/** How long each block is, without reading it. */
export function blockLengths(db: DatabaseSync): Map<Digest, number> {
  const lengths = new Map<Digest, number>();
  for (const row of scan(db, 'length(bytes)')) {
    if (row !== null) lengths.set(String(row[1]), Number(row[2]));
  }
  return lengths;
}

/** By number, not through the index of digests, which may be damaged itself. Null for one that cannot be read. */
function* scan(db: DatabaseSync, value: string): Iterable<Row | null> {
  const from = `SELECT rowid, digest, ${value} FROM blocks NOT INDEXED WHERE rowid`;
  const statements = [`${from} > ? ORDER BY rowid LIMIT ${PAGE}`, `${from} > ? ORDER BY rowid LIMIT 1`];
  const [page, next, one] = [...statements, `${from} = ? + 1`].map((sql) => {
    const statement = db.prepare(sql);
    statement.setReturnArrays(true);
    return statement;
  });
  if (page === undefined || next === undefined || one === undefined) return;
  let [id, gap] = [0, 0];
  while (gap < LONGEST_GAP) {
    const rows = attempt(page, id) ?? attempt(next, id);
    if (rows !== null && rows.length === 0) break;
    const found = rows ?? attempt(one, id) ?? [];
    if (found.length > 0) {
      // Only now it is known that there was something.
      for (; gap > 0; gap--) yield null;
      yield* found;
      // Numbers may be damaged too: it must not go back.
      id = Math.max(id + 1, Number(found.at(-1)?.[0]));
    } else {
      gap += 1;
      id += 1;
    }
  }
  if (gap > 0) yield null;
}

/** Null where a row of it cannot be read. */
function attempt(statement: StatementSync, after: number): Row[] | null {
  try {
    return statement.all(after) as unknown as Row[]; // arrays, as the statement gives them
  } catch {
    return null;
  }
}

/**
 * Whether the file of a session is what was written, for all that SQLite can tell.
 *
 * Every page in its place, and each index the same as its table; a quicker check leaves the indexes out. It takes less
 * time than reading the events does.
 */
export function isSoundFile(db: DatabaseSync): boolean {
  try {
    if (db.prepare('PRAGMA integrity_check(1)').get()?.integrity_check !== 'ok') return false;
    // Nobody reads these: numbers begin with 1.
    return db.prepare('SELECT 1 FROM events WHERE seq < 1 LIMIT 1').get() === undefined;
  } catch {
    return false;
  }
}
