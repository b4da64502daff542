/**
 * Removes a session for good: its journal first, so that no one finds half of one, then its files, then its line in
 * the index. Under the session's own lock: a process that resumes it at this moment wins, or finds nothing.
 */
import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readWitness } from '../../journal/integrity.ts';
import { leftOf } from '../../journal/missing-files.ts';
import { lockPath, removeLockFile, sessionPath, takeSessionLock } from '../../journal/session-file.ts';
import { forgetSession } from '../../journal/session-index.ts';
import type { SessionId } from '../../schema/ids.ts';

/** When it was last written. Not by the files beside it: SQLite makes those for readers too. */
export function lastWritten(file: string): number {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  return Math.max(stats?.mtimeMs ?? 0, readWitness(file)?.time ?? 0);
}

/** `in use`: a process writes it, or may, or has written it since it was judged: then it has to be judged again. */
export type SessionRemoval = 'removed' | 'gone already' | 'in use';

/** Needs no room on the disk: this is what makes room. */
export function removeSession(project: string, session: SessionId, judgedAt?: number): SessionRemoval {
  const file = sessionPath(project, session);
  const lock = takeSessionLock(file);
  if (lock === null) return 'in use';
  try {
    if (!existsSync(file)) {
      // Another process was first, and took the lock file away that this one has made again.
      removeLockFile(file);
      return 'gone already';
    }
    if (judgedAt !== undefined && lastWritten(file) !== judgedAt) return 'in use';
    rmSync(file, { force: true });
    removeFilesOf(project, session);
  } finally {
    lock.release();
  }
  forgetQuietly(project, session);
  return 'removed';
}

/** What is left of a session whose file is gone. */
export function removeLeftovers(project: string, session: SessionId): SessionRemoval {
  const file = sessionPath(project, session);
  const lock = takeSessionLock(file);
  if (lock === null) return 'in use';
  try {
    if (existsSync(file)) return 'in use';
    const wasGone = leftOf(file) === null;
    removeFilesOf(project, session);
    if (wasGone) return 'gone already';
  } finally {
    lock.release();
  }
  forgetQuietly(project, session);
  return 'removed';
}

export function isOfSession(name: string, session: SessionId): boolean {
  return name === session || name.startsWith(`${session}.`);
}

/** By the holder of its lock, which goes last. */
function removeFilesOf(project: string, session: SessionId): void {
  const file = sessionPath(project, session);
  const own = readdirSync(project).filter((name) => isOfSession(name, session));
  for (const path of own.map((name) => join(project, name))) {
    if (path !== lockPath(file)) rmSync(path, { recursive: true, force: true });
  }
  removeLockFile(file);
}

/** A line of the index whose session is gone is passed over by every list: not worth failing for. */
function forgetQuietly(project: string, session: SessionId): void {
  try {
    forgetSession(project, session);
  } catch {
    // Said above.
  }
}
