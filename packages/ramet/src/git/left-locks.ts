/**
 * Locks that a killed git has left. Git waits for a lock, fails, and never removes it: everything that needs the same
 * file fails from then on.
 *
 * Invariants
 * 1. Only what the caller alone may write is unlocked: it says which files these are.
 * 2. A lock goes when it has stayed the same for a while and no git works in the directory: one that outlives
 *    its parent ends by itself. Other programs do not count: the process of an agent works there, and the command
 *    with which it tries again.
 */
import { readlinkSync, rmSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
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
