/**
 * Who writes a session. The lease stands in the session's own file (`meta`, key `writer`), so that making a
 * session and owning it are one act; the index carries a copy for lists.
 *
 * Invariants
 * 1. At most one live process holds a session's lease; it is taken under the file's write lock.
 * 2. A lease whose process is gone is nobody's, and is taken over without asking.
 */
import type { DatabaseSync } from 'node:sqlite';
import { UserMistake } from '../schema/errors.ts';
import { newSessionId, type SessionId } from '../schema/ids.ts';
import { migrate, SESSION_MIGRATIONS } from './migrations.ts';
import { isProcessAlive, type ProcessIdentity, thisProcess } from './process-identity.ts';
import { readMeta, removeMeta, writeMeta } from './session-file.ts';
import { inTransaction } from './transaction.ts';

/** The key of the lease in `meta`. */
export const WRITER = 'writer';

export interface WriterLease extends ProcessIdentity {
  /** Tells apart two openings by one process. */
  token: string;
}

export function newLease(): WriterLease {
  return { ...thisProcess(), token: newSessionId() };
}

/** Takes the lease of an existing session, and brings its file to the newest shape while nobody else may. */
export function claimLease(db: DatabaseSync, session: SessionId, lease: WriterLease): void {
  inTransaction(db, () => {
    migrate(db, SESSION_MIGRATIONS);
    const holder = leaseOf(db);
    if (holder !== null && isProcessAlive(holder)) throw inUse(session, holder);
    writeMeta(db, WRITER, JSON.stringify(lease));
  });
}

export function releaseLease(db: DatabaseSync, lease: WriterLease): void {
  inTransaction(db, () => {
    if (leaseOf(db)?.token === lease.token) removeMeta(db, WRITER);
  });
}

export function leaseOf(db: DatabaseSync): WriterLease | null {
  const text = readMeta(db)[WRITER];
  // Only `claimLease` and `createSession` write it, both from a WriterLease.
  return text === undefined ? null : (JSON.parse(text) as WriterLease);
}

function inUse(session: SessionId, holder: WriterLease): UserMistake {
  return new UserMistake(
    'session_in_use',
    `session ${session} is being written by process ${holder.pid}: wait for it, or end it with ramet stop ${session}, then try again`,
  );
}
