/**
 * Lock files that a killed git has left in the shared git directory. Every git command that needs
 * one waits for it and fails, and nothing says whose it is. A lock on the branch of a worktree is removed when the maker
 * of that worktree is dead. A person has to remove all others: they are named, with their age and what to do.
 */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isHalfMade } from '../half-made.ts';
import type { WorktreePlace } from '../worktree-place.ts';

export interface RefLock {
  path: string;
  ageMs: number;
  /** Another lock has another. */
  identity: string;
}

/** A git that lives holds a lock for a moment. */
const STALE_MS = 10_000;
/** What one that may still be released is worth, once. */
const PATIENCE_MS = 3_000;
const BRANCHES = 'refs/heads/ramet';

/** Locks that were waited for without success, by path. */
const waitedFor = new WeakMap<WorktreePlace, Set<string>>();

/** How long git should wait for the file of packed refs: nothing for a lock that was waited for already. */
export function packedRefsPatience(place: WorktreePlace): number {
  const lock = packedRefsLock(place);
  if (lock === null) return PATIENCE_MS;
  return lock.ageMs >= STALE_MS || waitedFor.get(place)?.has(lock.identity) === true ? 0 : PATIENCE_MS;
}

/** After git has given up: the lock that it met, which is not waited for again. */
export function metPackedRefsLock(place: WorktreePlace): RefLock | null {
  const lock = packedRefsLock(place);
  if (lock === null) return null;
  const known = waitedFor.get(place) ?? new Set();
  waitedFor.set(place, known.add(lock.identity));
  return lock;
}

function packedRefsLock(place: WorktreePlace): RefLock | null {
  return lockAt(place, join(place.repository.commonDirectory, 'packed-refs.lock'));
}

function lockAt({ now }: WorktreePlace, path: string): RefLock | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  const { ino, mtimeMs } = stats;
  return { path, ageMs: Math.max(0, now() - mtimeMs), identity: `${ino} ${mtimeMs}` };
}

/** Removes locks on branches of worktrees whose maker is dead. */
export function removeDeadLocks(place: WorktreePlace): void {
  const dead = place.registry.list().filter((row) => isHalfMade(place.project, row));
  for (const { branch } of dead) {
    if (branch?.startsWith('ramet/') !== true) continue;
    const lock = lockAt(place, join(place.repository.commonDirectory, `refs/heads/${branch}.lock`));
    if (lock !== null && lock.ageMs >= STALE_MS) rmSync(lock.path, { force: true });
  }
}

/** Those that are too old to be at work, one sentence each. */
export function staleLockNotes(place: WorktreePlace): string[] {
  const packed = packedRefsLock(place);
  const given = packed !== null && waitedFor.get(place)?.has(packed.identity) === true;
  const locks = [
    ...(packed !== null && (given || packed.ageMs >= STALE_MS) ? [packed] : []),
    ...onBranches(place),
  ];
  return locks.map(
    ({ path, ageMs }) =>
      `${path} is ${Math.round(ageMs / 1_000)} s old, and while it is there branches cannot be deleted: a git that was killed has left it; when no git is at work here, remove it with rm ${JSON.stringify(path)} and run ramet worktree gc again`,
  );
}

function onBranches(place: WorktreePlace): RefLock[] {
  const folder = join(place.repository.commonDirectory, BRANCHES);
  const names = namesIn(folder).filter((name) => name.endsWith('.lock'));
  const locks = names.map((name) => lockAt(place, join(folder, name)));
  return locks.filter((lock) => lock !== null && lock.ageMs >= STALE_MS).filter((lock) => lock !== null);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
