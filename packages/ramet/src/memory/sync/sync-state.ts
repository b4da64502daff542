/**
 * What a synchronised folder remembers, in `.ramet-sync` inside it: of every key the version that folder and server last
 * agreed on, with its text for the next merge. Losing it loses nothing but merges.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, elapsedOf } from '../../schema/clock.ts';
import { Cancelled, UserMistake } from '../../schema/errors.ts';
import { tryProcessLock } from '../../system/sqlite/database.ts';
import { SharedDatabase, type SharedRow } from '../../system/sqlite/shared-database.ts';
import type { AgreedKey } from './plan-key.ts';
import { LOST } from './seen-history.ts';

export const STATE_DIRECTORY = '.ramet-sync';

const MIGRATIONS = [
  `
  CREATE TABLE agreed (key TEXT PRIMARY KEY, etag TEXT NOT NULL, checksum TEXT, value BLOB);
  CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
  `,
  // Of a deleted key, the checksum of what it was.
  'ALTER TABLE agreed ADD COLUMN gone TEXT',
];

/** `seen`: what was seen of the server's history, as the server reads it. */
type FactName = 'team' | 'listing' | 'seen';

export class SyncState implements Disposable {
  readonly #db: SharedDatabase;

  constructor(root: string) {
    const directory = join(root, STATE_DIRECTORY);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.#db = new SharedDatabase({
      file: join(directory, 'state.sqlite'),
      migrations: MIGRATIONS,
      holds: 'what was last synchronised',
      remedy: `remove ${directory}; what differs is then kept in two files`,
    });
  }

  agreed(): Map<string, AgreedKey> {
    const rows = this.#db.rows('SELECT key, etag, checksum, gone FROM agreed');
    return new Map(
      rows.map((row) => [
        String(row.key),
        { etag: String(row.etag), checksum: textOf(row.checksum), gone: textOf(row.gone) },
      ]),
    );
  }

  /** The text that both sides last agreed on. */
  text(key: string): string | null {
    const value = this.#db.row('SELECT value FROM agreed WHERE key = ?', key)?.value;
    return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : null;
  }

  agree(key: string, { etag, checksum, gone = null }: AgreedKey, value: Uint8Array | null): void {
    const sql =
      'INSERT INTO agreed (key, etag, checksum, value, gone) VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET etag = excluded.etag, checksum = excluded.checksum, value = excluded.value, gone = excluded.gone';
    this.#db.change(sql, key, etag, checksum, value, gone);
  }

  /** The record of one key is that of another from now on. */
  rename(key: string, to: string): void {
    this.#db.write('synced', () => {
      this.#db.row('DELETE FROM agreed WHERE key = ?', to);
      this.#db.row('UPDATE agreed SET key = ? WHERE key = ?', to, key);
    });
  }

  /** What the server has lost was never agreed on: with `instead` for what it has in place of that, where it is known. */
  part(lost: ReadonlyMap<string, AgreedKey | null>, seen: string | null): void {
    this.#db.write('synced', () => {
      for (const [key, instead] of lost)
        if (instead === null) this.#db.row('DELETE FROM agreed WHERE key = ?', key);
        // The text is still what a merge begins with.
        else if (instead.etag === LOST)
          this.#db.row('UPDATE agreed SET etag = ?, gone = ? WHERE key = ?', LOST, instead.gone ?? null, key);
        else this.agree(key, instead, null);
      this.setFact('seen', seen);
    });
  }

  fact(name: FactName): string | null {
    const row = this.#db.row('SELECT value FROM facts WHERE name = ?', name);
    return row === undefined ? null : String(row.value);
  }

  /** Null removes it. */
  setFact(name: FactName, value: string | null): void {
    if (value === null) this.#db.change('DELETE FROM facts WHERE name = ?', name);
    else
      this.#db.change(
        'INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
        ...[name, value],
      );
  }

  [Symbol.dispose](): void {
    this.#db[Symbol.dispose]();
  }
}

function textOf(value: SharedRow[string] | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

const PATIENCE_MS = 60_000;
const LOOK_AGAIN_MS = 50;

/** One process at a time works on a folder. */
export async function lockFolder(root: string, clock: Clock, signal: AbortSignal): Promise<Disposable> {
  const directory = join(root, STATE_DIRECTORY);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const since = elapsedOf(clock);
  for (;;) {
    const lock = tryProcessLock(join(directory, 'lock.sqlite'));
    if (lock !== null) return lock;
    if (signal.aborted) throw new Cancelled();
    if (elapsedOf(clock) - since > PATIENCE_MS)
      throw new UserMistake('sync_busy', `another process synchronises ${root}: wait for it, or end it`);
    await clock.sleep(LOOK_AGAIN_MS, signal);
  }
}
