/**
 * Who writes a session. The lease is in the session's own file (`meta`, key `writer`), so that making a
 * session and owning it are one act; the index carries a copy for lists.
 *
 * Invariants
 * 1. A writer holds the session's lock (`session-file.ts`) from before it takes the lease until after it gives it back.
 * 2. A lease without a lock is nobody's, and is taken over without asking; one whose holder cannot be seen from here
 *    (another machine, or a lock file that was removed) is taken over only when a person says so. So is one whose
 * holder
 *    lives and holds another lock: this is a copy of the session that it writes. A copy whose holder cannot be seen is
 *    told by the inode of the lock, which the lease names.
 * 3. `fence` rises with every lease. A writer compares it in each transaction (`writer.ts`): one that was taken over
 *    from writes nothing more, and so does nothing more.
 */
import type { DatabaseSync } from 'node:sqlite';
import { JournalError, UserMistake } from '../schema/errors.ts';
import { newSessionId, type SessionId } from '../schema/ids.ts';
import {
  hasOpen,
  isProcessAlive,
  knowsItsNamespace,
  type ProcessIdentity,
  seenAs,
  sightOf,
  thisProcess,
} from '../system/processes/process-identity.ts';
import { inTransaction, migrate } from '../system/sqlite/database.ts';
import { readMeta, writeMeta } from './session-file.ts';
import { SESSION_MIGRATIONS } from './session-schema.ts';

/** The key of the lease in `meta`, and that of how often it was taken. */
export const WRITER = 'writer';
export const FENCE = 'fence';
export const FIRST_FENCE = '1';
/** When it was last resumed. */
export const OPENED = 'opened';
/** The inode of the lock of who opened it last: beside a copy there is another. */
export const LOCK = 'lock';
/** What a repair could not save, until the session is resumed and everybody is told. */
export const LOST = 'lost';

export interface WriterLease extends ProcessIdentity {
  /** Tells apart two openings by one process. */
  token: string;
  /** The inode of the lock that its holder has. Earlier versions did not write it. */
  lock?: number;
}

/** `unseen`: nothing on this machine tells whether it lives. `copied`: it lives, and writes the session elsewhere. */
export type HolderState = 'alive' | 'gone' | 'unseen' | 'copied';

export function newLease(lock: number): WriterLease {
  return { ...thisProcess(), token: newSessionId(), lock };
}

/** The lock beside a session, as seen by a process that asks for its holder. */
export interface FoundLock {
  /** As `isSessionLocked` has it; null where there is no lock file. */
  locked: boolean | null;
  inode: number | null;
}

export function holderState(
  session: SessionId,
  lease: WriterLease,
  { locked, inode }: FoundLock,
): HolderState {
  if (locked === true) return 'alive';
  const sight = sightOf(lease);
  if (sight === 'elsewhere') return 'unseen';
  if (sight === 'rebooted') return 'gone';
  if (locked === false && knowsItsNamespace(lease)) {
    if (isWrittenElsewhere(session, lease)) return 'copied';
    // The lock of the original is another file: that this one is free says nothing.
    return sight === 'hidden' && lease.lock !== undefined && lease.lock !== inode ? 'unseen' : 'gone';
  }
  if (sight === 'hidden') return 'unseen';
  return isProcessAlive(lease) ? 'alive' : 'gone';
}

/** Not by this process: it knows what it writes. One that lives and has closed the session could not say so. */
function isWrittenElsewhere(session: SessionId, lease: WriterLease): boolean {
  const pid = seenAs(lease);
  return pid !== null && pid !== process.pid && hasOpen(pid, `${session}.sqlite`);
}

export interface Claimed {
  fence: string;
  /** It was copied, or restored from a backup, since it was last opened: the other may have been resumed too. */
  isCopy: boolean;
}

export interface LeaseClaim {
  session: SessionId;
  lease: WriterLease;
  /** The session's lock is ours, and was there before: nobody else had it. */
  lockWasThere: boolean;
  /** A person says that a holder who cannot be seen is gone, or may write the original of this copy. */
  takeOver: boolean;
  time: number;
}

/** Takes the lease of an existing session whose lock is ours, and brings its file to the newest shape. */
export function claimLease(db: DatabaseSync, claim: LeaseClaim): Claimed {
  const { session, lease, lockWasThere, takeOver, time } = claim;
  return inTransaction(db, () => {
    migrate(db, SESSION_MIGRATIONS);
    const { [WRITER]: writer, [FENCE]: last = '0', [LOCK]: lastLock } = readMeta(db);
    const holder = leaseFrom(writer);
    const state =
      holder === null
        ? 'gone'
        : holderState(session, holder, {
            locked: lockWasThere ? false : null,
            inode: lease.lock ?? null,
          });
    if (holder !== null && state === 'alive') throw inUse(session, holder);
    if (holder !== null && state === 'unseen' && !takeOver) throw outOfSight(session, holder);
    if (holder !== null && state === 'copied' && !takeOver) throw inUseElsewhere(session, holder);
    const fence = String(Number(last) + 1);
    writeMeta(db, WRITER, JSON.stringify(lease));
    writeMeta(db, FENCE, fence);
    writeMeta(db, OPENED, String(time));
    writeMeta(db, LOCK, String(lease.lock));
    // A lock that was removed tells nothing.
    const isCopy = lockWasThere && lastLock !== undefined && lastLock !== String(lease.lock);
    return { fence, isCopy };
  });
}

/** One statement: it compares and removes in one step. */
export function releaseLease(db: DatabaseSync, lease: WriterLease): void {
  db.prepare('DELETE FROM meta WHERE key = ? AND value = ?').run(WRITER, JSON.stringify(lease));
}

export function leaseOf(db: DatabaseSync): WriterLease | null {
  return leaseFrom(readMeta(db)[WRITER]);
}

/** Null also for what is no lease: a damaged one says nothing of anybody. */
function leaseFrom(text: string | undefined): WriterLease | null {
  if (text === undefined) return null;
  try {
    // Only `claimLease` and `createSession` write it, both from a WriterLease.
    const lease = JSON.parse(text) as WriterLease;
    return Number.isInteger(lease.pid) ? lease : null;
  } catch {
    return null;
  }
}

/** `holder` is null when it has the lock and its lease is not on record yet, or not any more. */
export function inUse(session: SessionId, holder: WriterLease | null): UserMistake {
  const hidden = holder !== null && sightOf(holder) !== 'here';
  if (holder?.pid === process.pid && !hidden)
    return new UserMistake(
      'session_in_use',
      `session ${session} is open in this program: close it, then try again`,
    );
  const who =
    holder === null
      ? 'another process'
      : `process ${holder.pid}${hidden ? ' of another container or pid namespace' : ''}`;
  const remedy = hidden ? 'end it there' : `end it with ramet stop ${session}`;
  return new UserMistake(
    'session_in_use',
    `session ${session} is being written by ${who}: wait for it, or ${remedy}, then try again`,
  );
}

function inUseElsewhere(session: SessionId, holder: WriterLease): UserMistake {
  return new UserMistake(
    'session_in_use',
    `session ${session} is a copy of one that process ${seenAs(holder) ?? holder.pid} is writing: both would work in the same checkout; end that process, then try again, or: ramet resume --take-over ${session}`,
  );
}

function outOfSight(session: SessionId, holder: WriterLease): UserMistake {
  const where =
    sightOf(holder) === 'elsewhere' ? 'on another machine' : 'in another container or pid namespace';
  return new UserMistake(
    'session_in_use',
    `session ${session} was last written by process ${holder.pid} ${where}, and nothing here tells whether it still runs: make sure that it has ended, then: ramet resume --take-over ${session}`,
  );
}

export function takenOver(file: string): JournalError {
  return new JournalError(
    'journal_taken_over',
    'terminal',
    `cannot write the journal ${file}: another process has taken the session over; this one stops and changes nothing more`,
  );
}
