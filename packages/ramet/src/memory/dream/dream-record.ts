/**
 * When a store of memory was last tidied up, and how many sessions there were since: `dream.sqlite` beside its files (BG-7).
 *
 * Invariants
 * 1. A clock that jumps back does not keep dreams away: a time in the future counts as now.
 * 2. A session counts once, whichever process it runs in.
 */
import { join } from 'node:path';
import { makePrivateDirectory } from '../../system/home.ts';
import { tryProcessLock } from '../../system/sqlite/database.ts';
import { SharedDatabase } from '../../system/sqlite/shared-database.ts';

export interface DreamTerms {
  hours: number;
  sessions: number;
}

export const DEFAULT_DREAM_TERMS: Readonly<DreamTerms> = { hours: 24, sessions: 5 };

export interface DreamStanding {
  /** Milliseconds since the epoch; null before the first. */
  last: number | null;
  sessions: number;
  isDue: boolean;
}

const HOUR_MS = 3_600_000;
const MIGRATIONS = [
  `CREATE TABLE dream (id INTEGER PRIMARY KEY CHECK (id = 1), since INTEGER NOT NULL, last INTEGER);
   CREATE TABLE session (id TEXT PRIMARY KEY);`,
];

export class DreamRecord implements Disposable {
  readonly #db: SharedDatabase;
  readonly store: string;

  constructor(store: string) {
    this.store = store;
    makePrivateDirectory(store);
    this.#db = new SharedDatabase({
      file: join(store, 'dream.sqlite'),
      migrations: MIGRATIONS,
      holds: 'when memory was last tidied up',
      remedy: 'remove it: the time begins again',
    });
  }

  /** Counts a session, and says whether a dream is due. The first look begins the time. */
  look(now: number, terms: DreamTerms, session: string | null): DreamStanding {
    const at = Math.round(now);
    return this.#db.write('written', () => {
      this.#db.row('INSERT OR IGNORE INTO dream (id, since) VALUES (1, ?)', at);
      this.#db.row('UPDATE dream SET since = ?1 WHERE since > ?1', at);
      if (session !== null) this.#db.row('INSERT OR IGNORE INTO session (id) VALUES (?)', session);
      const row = this.#db.row('SELECT since, last, (SELECT count(*) FROM session) AS sessions FROM dream');
      const sessions = Number(row?.sessions);
      const isDue = sessions >= terms.sessions && at - Number(row?.since) >= terms.hours * HOUR_MS;
      return { last: row?.last === null ? null : Number(row?.last), sessions, isDue };
    });
  }

  /** A dream has ended: time and sessions begin again. */
  done(now: number): void {
    this.#db.write('written', () => {
      this.#db.row(
        `INSERT INTO dream (id, since, last) VALUES (1, ?1, ?1)
         ON CONFLICT (id) DO UPDATE SET since = excluded.since, last = excluded.last`,
        Math.round(now),
      );
      this.#db.row('DELETE FROM session');
    });
  }

  /** One dream at a time; null if another process, or this one, dreams. */
  lock(): Disposable | null {
    return tryProcessLock(join(this.store, 'dream-lock.sqlite'));
  }

  [Symbol.dispose](): void {
    this.#db[Symbol.dispose]();
  }
}
