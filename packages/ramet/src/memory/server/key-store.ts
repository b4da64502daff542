/**
 * The keys of all teams in one SQLite file.
 *
 * Invariants
 * 1. A version is given once in a team: a deleted key that is written again has a new one.
 * 2. A write says which version it replaces, and fails if the key has another. So no update is lost unseen.
 * 3. A write is on disk before its promise resolves. Writes that come together share one transaction and one wait for
 *    the disk, during which others are read and written.
 * 4. What is remembered of entries is what the database has: own writes replace it, those of others end it (`forget`).
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { digestOf } from '../../system/digest.ts';
import { makePrivateDirectory } from '../../system/home.ts';
import { SharedDatabase, type SharedRow } from '../../system/sqlite/shared-database.ts';
import { foldedKey } from '../wire/memory-key.ts';
import {
  CHECKSUM_BEGINNING,
  type MemoryEntry,
  type MemoryLimits,
  type MemoryListing,
} from '../wire/memory-shapes.ts';
import { partOf, type SeenPart } from './history-parts.ts';
import { MEMORY_MIGRATIONS } from './memory-schema.ts';

/** The ETag of the version; null for a key that must not exist, nor have existed; or what must hold for it. */
export type Expected = string | null | ((current: MemoryEntry | null) => boolean);

export interface MemoryWrite {
  team: number;
  key: string;
  expected: Expected;
  /** Null deletes. */
  value: Uint8Array | null;
}

export type WriteOutcome =
  | { outcome: 'created' | 'replaced' | 'deleted'; entry: MemoryEntry }
  /** The key has another version; null if it never existed. */
  | { outcome: 'changed'; current: MemoryEntry | null }
  /** The other is the same key in another form, has a folder in another form, or is a file where this has a folder, or the reverse. */
  | { outcome: 'twin'; other: string; how: 'key' | 'folder' | 'file' }
  | { outcome: 'full'; what: string; remedy?: string };

/** Deleted keys that are remembered, for each key that a team may have. */
const REMEMBERED = 4;
const FORGETS_NONE =
  'they are remembered so that nobody brings them back: use one of their names, or start the server with a higher --max-keys';

interface Waiting {
  write: MemoryWrite;
  resolve(outcome: WriteOutcome): void;
  reject(error: unknown): void;
}

/** Of all teams; a process that serves more reads the rest from its file. */
const MOST_KNOWN = 50_000;

const FIELDS = 'key, version, checksum, size, value IS NULL AS deleted';

/** Versions of a key that are remembered. */
const MOST_EARLIER = 64;
const EARLIER = `substr(substr(checksum, 1, ${CHECKSUM_BEGINNING}) || earlier, 1, ${MOST_EARLIER * CHECKSUM_BEGINNING})`;

export function openMemoryDatabase(directory: string): SharedDatabase {
  makePrivateDirectory(directory);
  return new SharedDatabase({
    file: join(directory, 'memory.sqlite'),
    migrations: MEMORY_MIGRATIONS,
    holds: 'team memory',
    remedy: 'put a copy back, or move it away to begin without memory; clients then send what they have',
  });
}

export class KeyStore {
  readonly #db: SharedDatabase;
  readonly #limits: MemoryLimits;
  readonly #known = new Map<number, Map<string, MemoryEntry>>();
  #knownCount = 0;
  readonly #waiting: Waiting[] = [];
  #writing: Promise<void> | null = null;

  constructor(db: SharedDatabase, limits: MemoryLimits) {
    this.#db = db;
    this.#limits = limits;
  }

  /** For when another connection has changed the database. */
  forget(): void {
    this.#known.clear();
    this.#knownCount = 0;
  }

  /** An entry that was read or written lately; undefined says nothing. */
  known(team: number, key: string): MemoryEntry | undefined {
    return this.#known.get(team)?.get(key);
  }

  entry(team: number, key: string): MemoryEntry | null {
    const entry = this.#read(team, key);
    if (entry !== null) this.#remember(team, entry);
    return entry;
  }

  #remember(team: number, entry: MemoryEntry): void {
    if (this.#knownCount >= MOST_KNOWN) this.forget();
    const ofTeam = this.#known.get(team) ?? new Map<string, MemoryEntry>();
    if (!ofTeam.has(entry.key)) this.#knownCount += 1;
    this.#known.set(team, ofTeam.set(entry.key, entry));
  }

  #read(team: number, key: string): MemoryEntry | null {
    const row = this.#db.row(`SELECT ${FIELDS} FROM entries WHERE team = ? AND key = ?`, team, key);
    return row === undefined ? null : entryFrom(row);
  }

  value(team: number, key: string, version: number): Uint8Array | null {
    const sql = 'SELECT value FROM entries WHERE team = ? AND key = ? AND version = ?';
    const value = this.#db.row(sql, team, key, version)?.value;
    return value instanceof Uint8Array ? value : null;
  }

  /** Beginnings of the checksums that a key had, the newest first. */
  earlier(team: number, key: string): string[] {
    const row = this.#db.row('SELECT earlier FROM entries WHERE team = ? AND key = ?', team, key);
    return String(row?.earlier ?? '').match(new RegExp(`.{${CHECKSUM_BEGINNING}}`, 'g')) ?? [];
  }

  /** An entry that is known to be there, with its value, of one version: null for a deleted key. */
  whole(team: number, key: string): { entry: MemoryEntry; value: Uint8Array | null } {
    const row = this.#db.row(`SELECT ${FIELDS}, value FROM entries WHERE team = ? AND key = ?`, team, key);
    if (row === undefined) throw new Error(`the key ${key} has gone from the database`);
    const entry = entryFrom(row);
    this.#remember(team, entry);
    return { entry, value: row.value instanceof Uint8Array ? row.value : null };
  }

  /** Of the listing: changes with every key. */
  listingTag(team: number): string {
    const row = this.#db.row('SELECT version, stamp FROM teams WHERE id = ?', team);
    return `"${row?.version}-${row?.stamp}"`;
  }

  /** `seen` is what the one who asks has seen of the history. */
  listing(team: number, name: string, seen: readonly SeenPart[] = []): MemoryListing {
    const rows = this.#db.rows(`SELECT ${FIELDS} FROM entries WHERE team = ? ORDER BY key`, team);
    const version = Number(this.#db.row('SELECT version FROM teams WHERE id = ?', team)?.version);
    return { team: name, version, ...partOf(this.#db, team, seen), keys: rows.map(entryFrom) };
  }

  write(write: MemoryWrite): Promise<WriteOutcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  /** What comes while the disk is waited for is the next transaction. */
  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await new Promise((resolve) => setImmediate(resolve));
      await this.#writeTogether(this.#waiting.splice(0));
    }
    this.#writing = null;
  }

  async #writeTogether(waiting: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = this.#db.write('written', () => waiting.map(({ write }) => this.#apply(write)));
      const done = waiting.flatMap(({ write, resolve }, index) => {
        const outcome = outcomes[index];
        if (outcome === undefined) return [];
        if ('entry' in outcome) this.#remember(write.team, outcome.entry);
        return [() => resolve(outcome)];
      });
      await this.#db.synced();
      for (const answer of done) answer();
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  #apply({ team, key, expected, value }: MemoryWrite): WriteOutcome {
    const current = this.#read(team, key);
    const isExpected =
      typeof expected === 'function' ? expected(current) : (current?.etag ?? null) === expected;
    if (!isExpected || (value === null && current?.deleted !== false)) return { outcome: 'changed', current };
    const isNew = current === null || current.deleted;
    const problem =
      value === null ? null : this.#problem(team, key, value.length - (isNew ? 0 : current.size), current);
    if (problem !== null) return problem;
    const version = this.#nextVersion(team);
    const checksum = value === null ? (current?.checksum ?? '') : digestOf(value);
    const size = value?.length ?? 0;
    this.#db.row(
      `INSERT INTO entries (team, key, folded, version, checksum, size, value) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (team, key) DO UPDATE SET version = excluded.version, checksum = excluded.checksum,
         size = excluded.size, value = excluded.value,
         earlier = CASE WHEN excluded.checksum = checksum THEN earlier ELSE ${EARLIER} END`,
      ...[team, key, foldedKey(key), version, checksum, size, value],
    );
    const entry = withTag({ key, version, checksum, size, deleted: value === null });
    return { outcome: value === null ? 'deleted' : isNew ? 'created' : 'replaced', entry };
  }

  #problem(team: number, key: string, more: number, current: MemoryEntry | null): WriteOutcome | null {
    const isNew = current === null || current.deleted;
    if (isNew) {
      const twin = this.#twinOf(team, key);
      if (twin !== null) return twin;
    }
    const sums = this.#db.row('SELECT rows, keys, bytes FROM teams WHERE id = ?', team);
    const { keys, team: bytes } = this.#limits;
    if (isNew && Number(sums?.keys) >= keys) return { outcome: 'full', what: `${keys} keys` };
    if (current === null && Number(sums?.rows) >= keys * (1 + REMEMBERED))
      return { outcome: 'full', what: `${keys * REMEMBERED} deleted keys`, remedy: FORGETS_NONE };
    return more > 0 && Number(sums?.bytes) + more > bytes
      ? { outcome: 'full', what: `${bytes} bytes` }
      : null;
  }

  /** A key that is one with it where case does not count, or that needs a folder where the other has a file. */
  #twinOf(team: number, key: string): WriteOutcome | null {
    const same = this.#live(team, 'folded = ? AND key <> ?', foldedKey(key), key);
    if (same !== null) return { outcome: 'twin', other: same, how: 'key' };
    const below = this.#below(team, key);
    if (below !== null) return { outcome: 'twin', other: below, how: 'file' };
    for (let end = key.indexOf('/'); end !== -1; end = key.indexOf('/', end + 1)) {
      const folder = key.slice(0, end);
      const file = this.#live(team, 'folded = ?', foldedKey(folder));
      if (file !== null) return { outcome: 'twin', other: file, how: 'file' };
      // All in a folder have its name in one form: any of them says which.
      const other = this.#below(team, folder);
      if (other !== null && !other.startsWith(`${folder}/`)) return { outcome: 'twin', other, how: 'folder' };
    }
    return null;
  }

  /** One of the keys in a folder. `0` is the sign after `/`. */
  #below(team: number, folder: string): string | null {
    const folded = foldedKey(folder);
    return this.#live(team, 'folded >= ? AND folded < ?', `${folded}/`, `${folded}0`);
  }

  #live(team: number, condition: string, ...values: readonly string[]): string | null {
    const sql = `SELECT key FROM entries WHERE team = ? AND ${condition} AND value IS NOT NULL LIMIT 1`;
    const row = this.#db.row(sql, team, ...values);
    return row === undefined ? null : String(row.key);
  }

  #nextVersion(team: number): number {
    const sql = 'UPDATE teams SET version = version + 1, stamp = ? WHERE id = ? RETURNING version';
    return Number(this.#db.row(sql, randomUUID().slice(24), team)?.version);
  }
}

function entryFrom(row: SharedRow): MemoryEntry {
  return withTag({
    key: String(row.key),
    version: Number(row.version),
    checksum: String(row.checksum),
    size: Number(row.size),
    deleted: row.deleted === 1,
  });
}

/** The version alone would be given twice after a backup was put back. */
function withTag(entry: Omit<MemoryEntry, 'etag'>): MemoryEntry {
  return {
    ...entry,
    etag: `"${entry.version}-${entry.deleted ? 'deleted' : entry.checksum.slice(0, CHECKSUM_BEGINNING)}"`,
  };
}
