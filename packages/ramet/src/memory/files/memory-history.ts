/**
 * The history of a store of memory: `history.sqlite` beside its files has every change with its source and the texts before
 * and after. The files themselves say nothing about where a line came from.
 *
 * Invariants
 * 1. A change is one transaction that has the write lock from its beginning, so two processes change files one after
 *    the other.
 * 2. Changes have ascending numbers, also if the clock jumps back.
 */
import { existsSync, statSync } from 'node:fs';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { RametError, systemCode } from '../../schema/errors.ts';
import type { AgentId, SessionId } from '../../schema/ids.ts';
import { digestOf } from '../../system/digest.ts';
import { makePrivateDirectory } from '../../system/home.ts';
import {
  inTransaction,
  migrate,
  requireKnownVersion,
  requireSharedFile,
  schemaVersion,
} from '../../system/sqlite/database.ts';
import { openInMemory } from '../../system/sqlite/memory-copy.ts';
import { isDamaged, needsRoomBeside, writeTrouble } from '../../system/sqlite/sqlite-failure.ts';
import { damagedHistory, historyFile } from './history-health.ts';

/** `hand`: a person's edit outside of Ramet, seen afterwards. `sync`: it came from the memory of a team. */
export type ChangeKind =
  | 'note'
  | 'edit'
  | 'extraction'
  | 'session-notes'
  | 'agent'
  | 'dream'
  | 'pruning'
  | 'undo'
  | 'sync'
  | 'hand';

/** Who changed memory, and when in which conversation. */
export interface MemorySource {
  readonly kind: ChangeKind;
  readonly session: SessionId | null;
  readonly agent: AgentId | null;
  readonly turn: number | null;
  /** Of a sync: the team and its server. */
  readonly origin?: string | null;
}

export interface ChangedFile {
  /** Relative to the store. */
  readonly path: string;
  /** Null for a file that was not there. */
  readonly before: string | null;
  /** Null for a file that was removed. */
  readonly after: string | null;
}

export interface MemoryChange extends MemorySource {
  readonly id: number;
  readonly at: number;
  /** The change that this one takes back. */
  readonly undoes: number | null;
  readonly files: readonly ChangedFile[];
}

const MIGRATIONS: readonly string[] = [
  `CREATE TABLE change (
     id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, kind TEXT NOT NULL,
     session TEXT, agent TEXT, turn INTEGER, undoes INTEGER
   ) STRICT;
   CREATE TABLE text (digest TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;
   CREATE TABLE file (
     change INTEGER NOT NULL REFERENCES change(id), path TEXT NOT NULL, before TEXT, after TEXT
   ) STRICT;
   CREATE INDEX file_path ON file(path, change);`,
  'ALTER TABLE change ADD COLUMN origin TEXT;',
];

const PATIENCE_MS = 20_000;

export class MemoryHistory implements Disposable {
  readonly #db: DatabaseSync;
  readonly #store: string;
  readonly #file: string;

  /** Makes the file if it is missing; with `isCopy` it is read into memory, as a last resort. */
  constructor(store: string, isCopy = false) {
    this.#store = store;
    this.#file = historyFile(store);
    this.#db = this.#explaining(() => (isCopy ? openInMemory(this.#file) : this.#open()));
  }

  #open(): DatabaseSync {
    makePrivateDirectory(this.#store);
    requireSharedFile(this.#file, MIGRATIONS);
    const db = new DatabaseSync(this.#file, { timeout: PATIENCE_MS });
    try {
      const version = schemaVersion(db);
      requireKnownVersion(this.#file, version, MIGRATIONS);
      db.exec('PRAGMA synchronous = FULL');
      if (version < MIGRATIONS.length) inTransaction(db, () => migrate(db, MIGRATIONS));
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** Runs `work` while no other process changes this store. */
  alone<Result>(work: () => Result): Result {
    return this.#explaining(() => inTransaction(this.#db, work));
  }

  add(
    { kind, session, agent, turn, origin = null }: MemorySource,
    at: number,
    files: readonly ChangedFile[],
    undoes: number | null = null,
  ): MemoryChange {
    // A clock may have parts of milliseconds.
    const when = Math.round(at);
    const { lastInsertRowid } = this.#db
      .prepare(
        'INSERT INTO change (at, kind, session, agent, turn, undoes, origin) VALUES (?, ?, ?, ?, ?, ?, ?)',
      )
      .run(when, kind, session, agent, turn, undoes, origin);
    const id = Number(lastInsertRowid);
    const insert = this.#db.prepare('INSERT INTO file (change, path, before, after) VALUES (?, ?, ?, ?)');
    for (const { path, before, after } of files) insert.run(id, path, this.#keep(before), this.#keep(after));
    return { id, at: when, kind, session, agent, turn, ...(origin !== null && { origin }), undoes, files };
  }

  #keep(text: string | null): string | null {
    if (text === null) return null;
    const key = digestOf(text);
    this.#db.prepare('INSERT OR IGNORE INTO text (digest, text) VALUES (?, ?)').run(key, text);
    return key;
  }

  /** The oldest first; of one file if it is named. */
  changes(path?: string): MemoryChange[] {
    return this.#explaining(() => {
      const rows =
        path === undefined
          ? this.#db.prepare('SELECT * FROM change ORDER BY id').all()
          : this.#db
              .prepare(
                'SELECT * FROM change WHERE id IN (SELECT change FROM file WHERE path = ?) ORDER BY id',
              )
              .all(path);
      return rows.map((row) => this.#changeOf(row));
    });
  }

  find(id: number): MemoryChange | null {
    return this.#explaining(() => {
      const row = this.#db.prepare('SELECT * FROM change WHERE id = ?').get(id);
      return row === undefined ? null : this.#changeOf(row);
    });
  }

  /** Whether that very change is on record; what a person did before it was complete may have come first. */
  has({ id, at, kind }: Pick<MemoryChange, 'id' | 'at' | 'kind'>): boolean {
    return (
      this.#db
        .prepare('SELECT 1 FROM change WHERE id >= ? AND at = ? AND kind = ?')
        .get(id, Math.round(at), kind) !== undefined
    );
  }

  /** Up to which turn of a session something was found in it; 0 if nothing was. */
  lastExtraction(session: SessionId): number {
    return this.#explaining(() => {
      const row = this.#db
        .prepare("SELECT max(turn) AS turn FROM change WHERE session = ? AND kind = 'extraction'")
        .get(session);
      return Number(row?.turn ?? 0);
    });
  }

  /** What the last change left in a file; undefined if none is on record. */
  lastText(path: string): string | null | undefined {
    const row = this.#db
      .prepare(
        `SELECT file.after AS after, text.text AS text FROM file LEFT JOIN text ON text.digest = file.after
         WHERE path = ? ORDER BY change DESC LIMIT 1`,
      )
      .get(path);
    return row === undefined ? undefined : stringOf(row.text);
  }

  #changeOf(row: Record<string, SQLOutputValue>): MemoryChange {
    const files = this.#db
      .prepare(
        `SELECT path, b.text AS before, a.text AS after FROM file
         LEFT JOIN text b ON b.digest = file.before LEFT JOIN text a ON a.digest = file.after
         WHERE change = ? ORDER BY path`,
      )
      .all(Number(row.id));
    return {
      id: Number(row.id),
      at: Number(row.at),
      kind: kindOf(row.kind),
      session: stringOf(row.session),
      agent: stringOf(row.agent),
      turn: numberOf(row.turn),
      ...(typeof row.origin === 'string' && { origin: row.origin }),
      undoes: numberOf(row.undoes),
      files: files.map(({ path, before, after }) => ({
        path: String(path),
        before: stringOf(before),
        after: stringOf(after),
      })),
    };
  }

  #explaining<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      if (error instanceof RametError) throw error;
      if (isDamaged(error) || isFolder(this.#file))
        throw new RametError('memory_history', 'terminal', damagedHistory(this.#store), { cause: error });
      const reason = `cannot use the history of memory in ${this.#file}: ${writeTrouble(this.#file, error)}`;
      throw new RametError('memory_history', 'terminal', reason, { cause: error });
    }
  }

  [Symbol.dispose](): void {
    if (this.#db.isOpen) this.#db.close();
  }
}

/** Looks into the history of a store also where nothing can be written, as on a full disk; null without one. */
export function lookInto<Found>(
  store: string,
  open: () => MemoryHistory,
  look: (history: MemoryHistory) => Found,
): Found | null {
  try {
    return existsSync(historyFile(store)) ? look(open()) : null;
  } catch (error) {
    if (!(error instanceof RametError) || !lacksRoom(error.cause)) throw error;
    using copy = new MemoryHistory(store, true);
    return look(copy);
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function lacksRoom(error: unknown): boolean {
  return needsRoomBeside(error) || ['ENOSPC', 'EROFS', 'EDQUOT', 'EFBIG'].includes(systemCode(error) ?? '');
}

const KINDS: readonly ChangeKind[] = [
  ...(['note', 'edit', 'extraction', 'session-notes', 'agent', 'dream', 'pruning', 'undo', 'sync'] as const),
];

/** A kind of a later version is not ours to explain. */
function kindOf(value: SQLOutputValue | undefined): ChangeKind {
  return KINDS.find((kind) => kind === value) ?? 'hand';
}

function stringOf(value: SQLOutputValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function numberOf(value: SQLOutputValue | undefined): number | null {
  return value === null || value === undefined ? null : Number(value);
}
