/**
 * Takes a session away for good: its journal first, so that nobody finds half of one, then its files, then its line in
 * the index. Under the session's own lock: whoever resumes it at this moment wins, or finds nothing.
 */
import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sessionPath } from '../../journal/session-file.ts';
import { forgetSession } from '../../journal/session-index.ts';
import { lockPath, removeLockFile, takeSessionLock } from '../../journal/session-lock.ts';
import { readWitness } from '../../journal/witness.ts';
import type { SessionId } from '../../schema/ids.ts';

/** When it was last written. Not by the files beside it: SQLite makes those for whoever only looks. */
export function lastWritten(file: string): number {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  return Math.max(stats?.mtimeMs ?? 0, readWitness(file)?.time ?? 0);
}

/** True also where it was gone already. False when a process writes it, or has written it since it was judged: then it has to be judged again. */
export function removeSession(project: string, session: SessionId, judgedAt?: number): boolean {
  const file = sessionPath(project, session);
  const lock = takeSessionLock(file);
  if (lock === null) return false;
  try {
    if (!existsSync(file)) {
      // Another process was first, and took the lock file away that this one has made again.
      removeLockFile(file);
      return true;
    }
    if (judgedAt !== undefined && lastWritten(file) !== judgedAt) return false;
    rmSync(file, { force: true });
    const own = readdirSync(project).filter((name) => name === session || name.startsWith(`${session}.`));
    for (const path of own.map((name) => join(project, name))) {
      if (path !== lockPath(file)) rmSync(path, { recursive: true, force: true });
    }
    removeLockFile(file);
  } finally {
    lock.release();
  }
  forgetSession(project, session);
  return true;
}
