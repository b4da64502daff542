/**
 * The sessions of one repository at a glance: `index.sqlite` beside them, written by every process that works
 * there. It is a cache: sessions and their writers are told by their own files, so one that cannot be read counts as
 * empty, and one that is damaged is put aside, and a new one is made.
 * Each use opens and closes it, so that no process holds it while it waits for a model.
 */
import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { describeError, JournalError } from '../schema/errors.ts';
import type { SessionId } from '../schema/ids.ts';
import { DISK_TROUBLES, diskTroubleAt } from '../system/disk-trouble.ts';
import {
  createSharedFile,
  inTransaction,
  migrate,
  openToRead,
  requireKnownVersion,
  schemaVersion,
} from '../system/sqlite/database.ts';
import { openInMemory } from '../system/sqlite/memory-copy.ts';
import { isDamaged } from '../system/sqlite/sqlite-failure.ts';
import type { WriterLease } from './lease.ts';
import { INDEX_MIGRATIONS } from './session-schema.ts';

/** A new session enters the index this long after it was made: its first request must not wait for it. */
const REGISTER_AFTER_MS = 200;

export class Registration {
  readonly #options: RegistrationOptions;
  #timer: NodeJS.Timeout | undefined;
  #registered = false;

  constructor(options: RegistrationOptions) {
    this.#options = options;
  }

  /** A process that ends before that leaves a file that lists still find. */
  registerLater(): void {
    this.#timer = setTimeout(() => this.register(), REGISTER_AFTER_MS).unref();
  }

  register(): void {
    const { lease } = this.#options;
    if (this.#isRegistering()) this.#change((db) => registerSession(db, this.#entryNow(), lease));
  }

  /** A short session is entered and ended at once: to open and close the index takes longer than the rest. */
  end(time: number): void {
    const { entry, lease } = this.#options;
    const isFirst = this.#isRegistering();
    this.#change((db) => {
      if (isFirst) registerSession(db, this.#entryNow(), lease);
      unregisterSession(db, entry.session, lease, time);
    });
  }

  /** It may have been renamed since it was made. */
  #entryNow(): IndexedSession {
    const { entry, titleNow } = this.#options;
    return { ...entry, title: titleNow() };
  }

  /** True once. */
  #isRegistering(): boolean {
    clearTimeout(this.#timer);
    const isFirst = !this.#registered;
    this.#registered = true;
    return isFirst;
  }

  #change(change: (db: DatabaseSync) => void): void {
    try {
      withIndex(this.#options.project, change);
    } catch (error) {
      this.#options.warn(describeError(error));
    }
  }
}

const BUSY_TIMEOUT_MS = 10_000;

export interface IndexedSession {
  session: SessionId;
  created: number;
  /** When it was created or last resumed. */
  opened: number;
  /** When its last writer closed it; null while it is written and after a crash. */
  ended: number | null;
  cwd: string;
  title: string | null;
}

export function indexPath(project: string): string {
  return join(project, 'index.sqlite');
}

/** Enters a session that a process has begun to write. */
function registerSession(db: DatabaseSync, entry: IndexedSession, lease: WriterLease): void {
  const { session, created, opened, ended, cwd, title } = entry;
  db.prepare(
    'INSERT OR REPLACE INTO sessions (id, created, opened, ended, cwd, title) VALUES (?, ?, ?, ?, ?, ?)',
  ).run(session, created, opened, ended, cwd, title);
  db.prepare('INSERT OR REPLACE INTO leases (session, pid, started, token) VALUES (?, ?, ?, ?)').run(
    session,
    lease.pid,
    lease.started,
    lease.token,
  );
}

/** Notes that this writer has closed the session; says nothing of one that has been taken over. */
function unregisterSession(db: DatabaseSync, session: SessionId, lease: WriterLease, ended: number): void {
  const gone = db.prepare('DELETE FROM leases WHERE session = ? AND token = ?').run(session, lease.token);
  if (gone.changes > 0) db.prepare('UPDATE sessions SET ended = ? WHERE id = ?').run(ended, session);
}

/** Of a session whose files are gone. */
export function forgetSession(project: string, session: SessionId): void {
  if (!existsSync(indexPath(project))) return;
  withIndex(project, (db) => {
    db.prepare('DELETE FROM sessions WHERE id = ?').run(session);
    db.prepare('DELETE FROM leases WHERE session = ?').run(session);
  });
}

/** Of a session that is not in it, nothing is changed: its own file has the title. */
export function retitleSession(project: string, session: SessionId, title: string): void {
  if (!existsSync(indexPath(project))) return;
  withIndex(project, (db) => {
    db.prepare('UPDATE sessions SET title = ? WHERE id = ?').run(title, session);
  });
}

export interface IndexEntry {
  entry: IndexedSession;
  lease: WriterLease | null;
}

/** All entries, with the lease where there is one. Empty when there is no index that can be read. */
export function readIndex(project: string): IndexEntry[] {
  const file = indexPath(project);
  if (!existsSync(file)) return [];
  try {
    using db = openToRead(file, { timeout: BUSY_TIMEOUT_MS });
    return entriesOf(db);
  } catch {
    return entriesInMemory(file);
  }
}

/** On a disk that is full or read-only. */
function entriesInMemory(file: string): IndexEntry[] {
  try {
    using db = openInMemory(file);
    return entriesOf(db);
  } catch {
    return [];
  }
}

function entriesOf(db: DatabaseSync): IndexEntry[] {
  const rows = db.prepare('SELECT * FROM sessions LEFT JOIN leases ON leases.session = sessions.id').all();
  return rows.map((row) => ({ entry: entryOf(row), lease: row.token === null ? null : leaseFrom(row) }));
}

function entryOf(row: Record<string, SQLOutputValue>): IndexedSession {
  return {
    session: String(row.id),
    created: Number(row.created),
    opened: Number(row.opened),
    ended: row.ended === null ? null : Number(row.ended),
    cwd: String(row.cwd),
    title: row.title === null ? null : String(row.title),
  };
}

function leaseFrom(row: Record<string, SQLOutputValue>): WriterLease {
  const started = row.started === null ? null : String(row.started);
  return { pid: Number(row.pid), started, token: String(row.token) };
}

function withIndex(project: string, change: (db: DatabaseSync) => void): void {
  explaining(indexPath(project), () => {
    using db = openIndex(project);
    inTransaction(db, () => change(db));
  });
}

/** The index in its newest shape, made if missing. The caller closes it soon: see the top. */
export function openIndex(project: string): DatabaseSync {
  const file = indexPath(project);
  return explaining(file, () => {
    const inode = statSync(file, { throwIfNoEntry: false })?.ino;
    try {
      return openIndexFile(file);
    } catch (error) {
      if (!isDamaged(error)) throw error;
      putAside(file, inode);
      return openIndexFile(file);
    }
  });
}

function openIndexFile(file: string): DatabaseSync {
  return openNewest(file, () => new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS }));
}

/** The file in its newest shape, made if missing; also for the list of worktrees, which is in it too. */
export function openNewest(file: string, connect: () => DatabaseSync): DatabaseSync {
  if (!existsSync(file)) createSharedFile(file, INDEX_MIGRATIONS);
  const db = connect();
  try {
    const version = schemaVersion(db);
    requireKnownVersion(file, version, INDEX_MIGRATIONS);
    db.exec('PRAGMA synchronous = NORMAL');
    if (version < INDEX_MIGRATIONS.length) inTransaction(db, () => migrate(db, INDEX_MIGRATIONS));
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Not when another process has done so already, and begun a new one. */
function putAside(file: string, inode: number | undefined): void {
  if (statSync(file, { throwIfNoEntry: false })?.ino !== inode) return;
  for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
  renameSync(file, `${file}.damaged`);
}

function explaining<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof JournalError ? error : unusableIndex(file, error);
  }
}

/** Also for the list of worktrees, which is in the same file. */
export function unusableIndex(file: string, error: unknown): JournalError {
  const [reason, remedy] = explain(file, error);
  return new JournalError(
    'index_unusable',
    'terminal',
    `cannot use the session index ${file}: ${reason}; ${remedy} (sessions stay)`,
    { cause: error },
  );
}

function explain(file: string, error: unknown): readonly [reason: string, remedy: string] {
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) return ['it is a directory', 'move it away'];
  const trouble = diskTroubleAt(file);
  return trouble === null
    ? [describeError(error), 'check its directory, or remove it']
    : DISK_TROUBLES[trouble];
}

/**
 * Keeps a session's entry in the index in step with its life. The index is never worth a failed run: what goes
 * wrong with it becomes a warning.
 */
interface RegistrationOptions {
  project: string;
  entry: IndexedSession;
  /** As the session's file has it. */
  titleNow(): string | null;
  lease: WriterLease;
  warn(message: string): void;
}
