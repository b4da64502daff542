/**
 * Takes a session away for good: its journal first, so that nobody finds half of one, then its files, then its line in
 * the index. Under the session's own lock: whoever resumes it at this moment wins, or finds nothing.
 */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sessionPath } from '../../journal/session-file.ts';
import { forgetSession } from '../../journal/session-index.ts';
import { lockPath, removeLockFile, takeSessionLock } from '../../journal/session-lock.ts';
import type { SessionId } from '../../schema/ids.ts';

/** False when a process has begun to write it. */
export function removeSession(project: string, session: SessionId): boolean {
  const file = sessionPath(project, session);
  const lock = takeSessionLock(file);
  if (lock === null) return false;
  try {
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
