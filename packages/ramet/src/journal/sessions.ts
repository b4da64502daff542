/**
 * The door to a project's sessions: make one, go on with one, read one. `project` is always the directory that
 * `projectDirectory` names. Finding one is in `session-list.ts`.
 */
import { existsSync, rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { type Clock, systemClock } from '../schema/clock.ts';
import { UserMistake } from '../schema/errors.ts';
import { isSessionId, type SessionId } from '../schema/ids.ts';
import { makePrivateDirectory } from './home.ts';
import type { Journal, JournalReader } from './journal.ts';
import { claimLease, leaseOf, newLease, releaseLease, WRITER, type WriterLease } from './lease.ts';
import { isProcessAlive, type ProcessIdentity } from './process-identity.ts';
import { SessionReader } from './reader.ts';
import { Registration } from './registration.ts';
import {
  fillSessionFile,
  openSessionFile,
  openSessionFileReadOnly,
  readMeta,
  reserveSessionFile,
  sessionPath,
} from './session-file.ts';
import type { IndexedSession } from './session-index.ts';
import { writeFailure } from './sqlite-failure.ts';
import { SessionWriter } from './writer.ts';

interface SessionOpening {
  project: string;
  clock?: Clock;
  /** Told of what went wrong without loss; it is journaled too while the journal is open. */
  onWarning?: (message: string) => void;
}

export async function createSession(
  options: SessionOpening & { cwd: string; title?: string },
): Promise<Journal> {
  const { project, cwd, title = null, clock = systemClock } = options;
  makePrivateDirectory(project);
  const session = reserveSessionFile(project);
  const file = sessionPath(project, session);
  const lease = newLease();
  const created = clock.now();
  const meta = { session, created: String(created), cwd, [WRITER]: JSON.stringify(lease) };
  try {
    const db = fillSessionFile(file, title === null ? meta : { ...meta, title });
    const entry = { session, created, opened: created, ended: null, cwd, title };
    const { journal, registration } = openJournal(options, db, entry, lease);
    registration.registerLater();
    return journal;
  } catch (error) {
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
    throw error;
  }
}

/** Goes on with a session whose writer has ended, and brings its file to the newest shape. */
export async function resumeSession(
  options: SessionOpening & { session: SessionId },
): Promise<{ journal: Journal; reader: JournalReader }> {
  const { project, session, clock = systemClock } = options;
  const file = requireSession(project, session);
  // Opened for reading first: a file from a newer version must not be written to, nor its WAL moved.
  const reader = openReader(options);
  const lease = newLease();
  let db: DatabaseSync | undefined;
  try {
    db = openSessionFile(file);
    claimLease(db, session, lease);
    const entry = { ...describeSession(db, session), opened: clock.now() };
    const { journal, registration } = openJournal(options, db, entry, lease);
    registration.register();
    return { journal, reader };
  } catch (error) {
    reader.close();
    db?.close();
    throw error instanceof UserMistake ? error : writeFailure(file, error);
  }
}

/** Reads a session, also while it is written and after its writer crashed. */
export function openReader(options: { project: string; session: SessionId }): JournalReader {
  return new SessionReader(requireSession(options.project, options.session));
}

export function isWriterAlive(options: { project: string; session: SessionId }): boolean {
  return livingWriter(options) !== null;
}

/** The process that writes a session; null when none does, or the one that did is gone. */
export function livingWriter(options: { project: string; session: SessionId }): ProcessIdentity | null {
  using db = openSessionFileReadOnly(requireSession(options.project, options.session));
  const lease = leaseOf(db);
  return lease !== null && isProcessAlive(lease) ? lease : null;
}

/** What a session's own file says of it. */
export function describeSession(db: DatabaseSync, session: SessionId): IndexedSession {
  const meta = readMeta(db);
  const first = db.prepare('SELECT time FROM events ORDER BY seq LIMIT 1').get();
  const created = Number(meta.created ?? first?.time ?? 0);
  return { session, created, opened: created, ended: null, cwd: meta.cwd ?? '', title: meta.title ?? null };
}

function requireSession(project: string, session: SessionId): string {
  const file = sessionPath(project, session);
  if (isSessionId(session) && existsSync(file)) return file;
  throw new UserMistake('session_unknown', `there is no session ${session}: ${file} does not exist`);
}

/** Joins the parts of a session that is written. A new one enters the index later, a resumed one at once. */
function openJournal(
  options: SessionOpening,
  db: DatabaseSync,
  entry: IndexedSession,
  lease: WriterLease,
): { journal: Journal; registration: Registration } {
  const { project, clock = systemClock, onWarning } = options;
  const warn = (code: string, message: string): void => {
    journal.append(null, { type: 'warning.raised', code, message });
    onWarning?.(message);
  };
  const registration = new Registration({
    project,
    entry,
    lease,
    warn: (message) => warn('index_unusable', message),
  });
  const journal = new SessionWriter({
    db,
    session: entry.session,
    file: sessionPath(project, entry.session),
    clock,
    beforeClose: () => registration.end(clock.now()),
    afterLastCommit: () => releaseLease(db, lease),
    onCheckpointFailure: (reason) => warn('checkpoint_failed', `cannot empty the journal's WAL: ${reason}`),
  });
  return { journal, registration };
}
