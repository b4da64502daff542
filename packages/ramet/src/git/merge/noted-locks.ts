/**
 * Git writes refs and checkouts under locks, and a git that is killed leaves them: from then on every git in the repository
 * fails, a person's too. So what a call of ours will lock is noted before it begins. When the process that noted it is dead,
 * these locks are nobody's, and the next process removes them.
 *
 * Invariants
 * 1. A lock that no note of a dead process names, or that is older than the note, is a person's and stays.
 * 2. A process that cannot be seen from here counts as alive.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  isProcessAlive,
  type ProcessIdentity,
  thisProcess,
} from '../../system/processes/process-identity.ts';
import { removeLeftLocks } from '../left-locks.ts';

interface LockNote extends ProcessIdentity {
  /** What is locked, without `.lock`, in the shared git directory. */
  files: string[];
}

const NAME = /^locks-[\w-]+\.json$/;
let count = 0;

function folderOf(commonDirectory: string): string {
  return join(commonDirectory, 'ramet');
}

/** `files` are paths in the shared git directory. If the work does not come to its end, nothing stays locked. */
export async function withNotedLocks<Result>(
  commonDirectory: string,
  files: readonly string[],
  work: () => Promise<Result>,
): Promise<Result> {
  const folder = folderOf(commonDirectory);
  mkdirSync(folder, { recursive: true });
  count += 1;
  const { pid, started } = thisProcess();
  // A number alone is used again by a later process.
  const note = join(folder, `locks-${pid}-${started ?? 'unknown'}-${count}.json`);
  const content: LockNote = { pid, started, files: [...files] };
  writeFileSync(note, JSON.stringify(content));
  try {
    return await work();
  } catch (error) {
    await removeSince(note, files, commonDirectory);
    throw error;
  } finally {
    rmSync(note, { force: true });
  }
}

/** Removes what dead processes have left; says whether there was anything. A look at one folder where there is not. */
export async function removeDeadLocks(commonDirectory: string): Promise<boolean> {
  const folder = folderOf(commonDirectory);
  let wasAny = false;
  for (const name of namesIn(folder).filter((one) => NAME.test(one))) {
    const path = join(folder, name);
    const note = readNote(path);
    if (note === null || isProcessAlive(note)) continue;
    wasAny = true;
    await removeSince(path, note.files, commonDirectory);
    rmSync(path, { force: true });
  }
  return wasAny;
}

async function removeSince(note: string, files: readonly string[], commonDirectory: string): Promise<void> {
  const since = statSync(note, { throwIfNoEntry: false })?.mtimeMs;
  if (since === undefined) return;
  const paths = files.map((file) => join(commonDirectory, file));
  await removeLeftLocks(paths.filter((path) => isSince(`${path}.lock`, since)));
}

function isSince(lock: string, time: number): boolean {
  const stats = statSync(lock, { throwIfNoEntry: false });
  return stats !== undefined && stats.mtimeMs >= time;
}

function readNote(path: string): LockNote | null {
  try {
    // Only we write there; a note that was cut off is no JSON.
    const { pid, started, files } = JSON.parse(readFileSync(path, 'utf8')) as Partial<LockNote>;
    const isWhole = typeof pid === 'number' && (started === null || typeof started === 'string');
    return isWhole && Array.isArray(files) ? { pid, started, files: files.map(String) } : null;
  } catch {
    return null;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
