/**
 * The door to a project's sessions: create one, resume one, read one. `project` is always the directory that
 * `projectDirectory` names. Finding one is in `session-list.ts`.
 */
import { existsSync, rmSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { type Clock, systemClock } from '../schema/clock.ts';
import { JournalError, UserMistake } from '../schema/errors.ts';
import { isSessionId, type SessionId } from '../schema/ids.ts';
import { refuseNetworkHome } from '../system/disk-trouble.ts';
import { makePrivateDirectory, renamingOf } from '../system/home.ts';
import {
  isDamaged,
  readFailure,
  removedBeforeResuming,
  sessionOf,
  writeFailure,
} from '../system/sqlite/sqlite-failure.ts';
import { requireWhole, skipLostEnd, witnessPath } from './integrity.ts';
import type { Journal, JournalReader } from './journal.ts';
import {
  claimLease,
  FENCE,
  FIRST_FENCE,
  type HolderState,
  holderState,
  inUse,
  LOCK,
  LOST,
  leaseOf,
  newLease,
  OPENED,
  releaseLease,
  WRITER,
  type WriterLease,
} from './lease.ts';
import { SessionReader } from './reader.ts';
import {
  fillSessionFile,
  isSessionLocked,
  lockInode,
  openSessionFile,
  openSessionFileReadOnly,
  readMeta,
  removeLockFile,
  removeMeta,
  reserveNamedFile,
  reserveSessionFile,
  type SessionLock,
  sessionPath,
  takeSessionLock,
  titleIn,
} from './session-file.ts';
import { type IndexedSession, Registration } from './session-index.ts';
import { SessionWriter } from './writer.ts';

interface SessionOpening {
  project: string;
  clock?: Clock;
  /** Told of what went wrong without loss; it is journaled too while the journal is open. */
  onWarning?: (message: string) => void;
}

export async function createSession(
  options: SessionOpening & { cwd: string; title?: string | null; sessionId?: SessionId | undefined },
): Promise<Journal> {
  const { project, cwd, title = null, sessionId, clock = systemClock } = options;
  makePrivateDirectory(project);
  refuseNetworkHome(project);
  const session =
    sessionId === undefined ? reserveSessionFile(project) : reserveNamedFile(project, sessionId);
  const file = sessionPath(project, session);
  const created = clock.now();
  let lock: SessionLock | undefined;
  try {
    lock = lockSession(file, session);
    const lease = newLease(lock.inode);
    const meta = {
      session,
      created: String(created),
      cwd,
      [WRITER]: JSON.stringify(lease),
      [FENCE]: FIRST_FENCE,
      [LOCK]: String(lock.inode),
    };
    const db = fillSessionFile(file, title === null ? meta : { ...meta, title });
    const entry = { session, created, opened: created, ended: null, cwd, title };
    const { journal, registration } = openJournal(options, { db, entry, lease, lock, fence: FIRST_FENCE });
    registration.registerLater();
    return journal;
  } catch (error) {
    for (const path of [file, `${file}-wal`, `${file}-shm`, witnessPath(file)]) rmSync(path, { force: true });
    removeLockFile(file);
    lock?.release();
    throw error instanceof UserMistake ? error : notBegun(writeFailure(file, error));
  }
}

/** Nothing of it was saved, so there is nothing to resume. */
function notBegun({ code, message, cause }: JournalError): JournalError {
  const advice = message.replace(/then resume the session$/, 'then start again');
  return new JournalError(code, 'terminal', advice, { cause });
}

export interface ResumedJournal {
  journal: Journal;
  reader: JournalReader;
  /**
   * More had been recorded than the journal still holds, at its end or where it was repaired; a warning says how much.
   * Or more may have been, since this is a copy.
   */
  endIsMissing: boolean;
}

/** Continues a session whose writer has ended, and brings its file to the newest shape. */
export async function resumeSession(
  options: SessionOpening & {
    session: SessionId;
    /** A person says that a writer who cannot be seen from here has ended. */
    takeOver?: boolean;
  },
): Promise<ResumedJournal> {
  const { project, session, clock = systemClock, takeOver = false } = options;
  const file = requireSession(project, session);
  refuseNetworkHome(project);
  const inode = inodeOf(file);
  // Opened for reading first: a file from a newer version must not be written to, nor its WAL moved.
  const reader = openReader({ project, session, live: true });
  const time = clock.now();
  let lock: SessionLock | undefined;
  let db: DatabaseSync | undefined;
  try {
    lock = lockSession(file, session);
    // Looked at again: until here another process may have removed it.
    if (inode === null || inodeOf(file) !== inode) throw removedBeforeResuming(file);
    const end = requireWhole(session, reader);
    db = openSessionFile(file);
    const lease = newLease(lock.inode);
    const { fence, isCopy } = claimLease(db, { session, lease, lockWasThere: !lock.isNew, takeOver, time });
    const entry = describeSession(db, session);
    const missing = joinLines(skipLostEnd({ db, file, end, time }), takeLoss(db, file));
    const { journal, registration, warn } = openJournal(options, { db, entry, lease, lock, fence });
    if (missing !== null) warn('journal_end_missing', missing);
    if (isCopy) warn('journal_copied', copied(session));
    registration.register();
    return { journal, reader, endIsMissing: missing !== null || isCopy };
  } catch (error) {
    reader.close();
    db?.close();
    const isGone = !existsSync(file);
    // Without a session these are nobody's; the reader may have made them after it was removed.
    if (lock !== undefined && isGone) {
      for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
      removeLockFile(file);
    }
    lock?.release();
    if (isGone) throw removedBeforeResuming(file);
    throw error instanceof UserMistake ? error : writeFailure(file, error);
  }
}

function copied(session: SessionId): string {
  return (
    `session ${session} was copied or restored from a backup since it was last used: what another copy did since then ` +
    'may be done again: check the files before you rely on them'
  );
}

/** One line that says what an earlier repair could not save; null when it saved everything. */
function takeLoss(db: DatabaseSync, file: string): string | null {
  const lost = readMeta(db)[LOST];
  if (lost === undefined) return null;
  removeMeta(db, LOST);
  return (
    `the journal ${file} was repaired, and ${lost} could not be saved: ` +
    'what agents did then may be done again: check the files before you rely on them'
  );
}

function joinLines(...lines: readonly (string | null)[]): string | null {
  return lines.filter((line) => line !== null).join('\n') || null;
}

function inodeOf(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.ino ?? null;
}

function lockSession(file: string, session: SessionId): SessionLock {
  const lock = takeSessionLock(file);
  if (lock !== null) return lock;
  if (!existsSync(file)) throw removedBeforeResuming(file);
  using db = openSessionFileReadOnly(file);
  throw inUse(session, leaseOf(db));
}

/** Reads a session, also while it is written and after its writer crashed. */
export function openReader(options: {
  project: string;
  session: SessionId;
  /** For people: what is lost is given as a text that says so. */
  forgiving?: boolean;
  /** What is written later must be seen. */
  live?: boolean;
}): JournalReader {
  const { project, session, forgiving = false, live = false } = options;
  const file = requireSession(project, session);
  return new SessionReader(file, { forgiving, live, moved: renamingOf(project) });
}

/** Also one whose lease is damaged: it has the lock. */
export function isWriterAlive(options: { project: string; session: SessionId }): boolean {
  return (
    livingWriter(options) !== null || isSessionLocked(sessionPath(options.project, options.session)) === true
  );
}

/** The process that writes a session, or may: one on another machine counts. Null when none does. */
export function livingWriter(options: { project: string; session: SessionId }): WriterLease | null {
  const file = requireSession(options.project, options.session);
  const lease = readableLease(file);
  return lease === null || stateOfWriter(file, lease) === 'gone' ? null : lease;
}

/** Null also where it is damaged. */
function readableLease(file: string): WriterLease | null {
  using db = openSessionFileReadOnly(file);
  try {
    return leaseOf(db);
  } catch (error) {
    if (isDamaged(error)) return null;
    throw readFailure(file, error);
  }
}

/** What the lock of a session says about the holder of its lease. */
export function stateOfWriter(file: string, lease: WriterLease): HolderState {
  return holderState(sessionOf(file), lease, { locked: isSessionLocked(file), inode: lockInode(file) });
}

/** The facts in a session's own file. */
export function describeSession(db: DatabaseSync, session: SessionId): IndexedSession {
  const meta = readMeta(db);
  const first = db.prepare('SELECT time FROM events ORDER BY seq LIMIT 1').get();
  const created = Number(meta.created ?? first?.time ?? 0);
  const opened = Number(meta[OPENED] ?? created);
  return { session, created, opened, ended: null, cwd: meta.cwd ?? '', title: meta.title ?? null };
}

function requireSession(project: string, session: SessionId): string {
  const file = sessionPath(project, session);
  if (isSessionId(session) && existsSync(file)) return file;
  throw new UserMistake('session_unknown', `there is no session ${session}: ${file} does not exist`);
}

interface OpenedSession {
  db: DatabaseSync;
  entry: IndexedSession;
  lease: WriterLease;
  lock: SessionLock;
  fence: string;
}

interface OpenedJournal {
  journal: Journal;
  registration: Registration;
  warn(code: string, message: string): void;
}

/** Joins the parts of a session that is written. A new one enters the index later, a resumed one at once. */
function openJournal(options: SessionOpening, opened: OpenedSession): OpenedJournal {
  const { project, clock = systemClock, onWarning } = options;
  const { db, entry, lease, lock, fence } = opened;
  const warn = (code: string, message: string): void => {
    journal.append(null, { type: 'warning.raised', code, message });
    onWarning?.(message);
  };
  const registration = new Registration({
    project,
    entry,
    titleNow: () => titleIn(db) ?? entry.title,
    lease,
    warn: (message) => warn('index_unusable', message),
  });
  const journal = new SessionWriter({
    db,
    session: entry.session,
    file: sessionPath(project, entry.session),
    clock,
    fence,
    beforeClose: () => registration.end(clock.now()),
    afterLastCommit: () => releaseLease(db, lease),
    afterClose: () => lock.release(),
    onCheckpointFailure: (reason) => warn('checkpoint_failed', `cannot empty the journal's WAL: ${reason}`),
  });
  return { journal, registration, warn };
}
