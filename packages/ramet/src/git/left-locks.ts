/**
 * Locks that a killed git has left. Git waits for a lock, fails, and never removes it: everything that needs the same
 * file fails from then on.
 *
 * Invariants
 * 1. Only what the caller alone may write is unlocked: it says which files these are. `packed-refs` is everybody's, and goes when
 *    every git that may have locked it has ended.
 * 2. A lock goes when it has stayed the same for a while and no git works in the directory: one that outlives
 *    its parent ends by itself. Other programs do not count: the process of an agent works there, and the command
 *    with which it tries again.
 */
import { readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProcess } from '../system/processes/process-identity.ts';
import { noteShared, setAside } from './special-files.ts';
import { processesInside } from './worktrees/removal/delete-directory.ts';

/** A git that lives changes its lock or is done by then. */
const STILL_MS = 300;
const PAUSE_MS = 20;
const LONGEST_MS = 5_000;

/** `files` are those that are locked, without `.lock`. Costs one call for each that is not locked. */
export async function removeLeftLocks(
  files: readonly string[],
  directory?: string,
  longestMs: number = LONGEST_MS,
): Promise<void> {
  const left = new Map<string, string>();
  for (const file of files) {
    const lock = `${file}.lock`;
    const identity = identityOf(lock);
    if (identity !== null) left.set(lock, identity);
  }
  if (left.size === 0) return;
  for (let waited = 0, still = 0; still < STILL_MS; waited += PAUSE_MS, still += PAUSE_MS) {
    if (waited >= longestMs) return;
    await sleep(PAUSE_MS);
    for (const [lock, before] of left) {
      const now = identityOf(lock);
      if (now === before) continue;
      still = 0;
      if (now === null) left.delete(lock);
      else left.set(lock, now);
    }
    if (left.size === 0) return;
    if (directory !== undefined && hasGit(directory)) still = 0;
  }
  for (const [lock, before] of left) if (identityOf(lock) === before) rmSync(lock, { force: true });
}

/** Younger locks may be of a program that is no git. */
const YOUNGEST_MS = 3_000;
/** These live long, and change no ref. */
const LASTING = /\0(?:fsmonitor--daemon|daemon|credential-cache--daemon|cat-file)\0/;

/**
 * For a lock that every later git would meet too. The git that made it was at work when it was found: if all gits of that moment have
 * ended and it is still there, nobody will remove it. It is set aside, and someone says so. True if it is gone.
 */
export async function removeOwnerlessLock(
  lock: string,
  longestMs: number = 3 * LONGEST_MS,
): Promise<boolean> {
  const before = identityOf(lock);
  const found = livingGits();
  if (before === null || found === null) return before === null;
  for (let waited = 0; ; waited += PAUSE_MS) {
    if (identityOf(lock) !== before) return true;
    const isOld = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= YOUNGEST_MS;
    const living = livingGits() ?? found;
    if (isOld && [...found].every((git) => !living.has(git))) break;
    if (waited >= longestMs) return false;
    await sleep(PAUSE_MS);
  }
  if (identityOf(lock) !== before) return true;
  noteShared(`${lock} was left by a git that has ended, and is in ${setAside(dirname(lock), lock)}`);
  return true;
}

/** Each with when it began: a number is used again. Null where the system does not tell. */
function livingGits(): Set<string> | null {
  const pids = processesInside('/');
  if (pids === null) return null;
  const gits = pids.filter((pid) => programOf(pid).includes('git') && !LASTING.test(argumentsOf(pid)));
  return new Set(
    gits.flatMap((pid) => {
      const git = findProcess(pid);
      return git === null || git.ended ? [] : [`${pid} ${git.started}`];
    }),
  );
}

function argumentsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return ''; // it has ended
  }
}

function identityOf(lock: string): string | null {
  const stats = statSync(lock, { throwIfNoEntry: false });
  return stats === undefined ? null : `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
}

function hasGit(directory: string): boolean {
  return processesInside(directory)?.some((pid) => programOf(pid).includes('git')) === true;
}

/** Not by its name: a script that is called git, such as the shim, waits for locks and has none. */
function programOf(pid: number): string {
  try {
    return basename(readlinkSync(`/proc/${pid}/exe`));
  } catch {
    return ''; // it has ended
  }
}
