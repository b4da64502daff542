/**
 * Worktrees that nobody has worked in: one that is on its way to its owner, or whose maker was killed. Files that are
 * not there yet look deleted to git, so nothing in such a tree is ever taken for work.
 */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { livingWriter } from '../../journal/sessions.ts';
import { UserMistake } from '../../schema/errors.ts';
import { isProcessAlive, sightOf } from '../../system/processes/process-identity.ts';
import { WorktreeRegistry } from './registry.ts';
import type { ManagedWorktree, WorktreeState } from './worktree.ts';

const UNFINISHED: ReadonlySet<WorktreeState> = new Set<WorktreeState>(['making', 'claiming', 'resetting']);

/** What it is, as the end of a sentence with what to do; null for a tree that is whole. */
function unfinishedText(
  project: string,
  worktree: Pick<ManagedWorktree, 'state' | 'lease' | 'owner'>,
): string | null {
  if (!UNFINISHED.has(worktree.state)) return null;
  return isHeld(project, worktree)
    ? `is being made by process ${worktree.lease?.pid}: wait until it is done`
    : 'is half-made: its process was killed before any work; ramet worktree gc removes it';
}

/** Whether its maker was killed. */
export function isHalfMade(
  project: string,
  worktree: Pick<ManagedWorktree, 'state' | 'lease' | 'owner'>,
): boolean {
  return UNFINISHED.has(worktree.state) && !isHeld(project, worktree);
}

/** Throws for a tree that is not whole. */
export function refuseUnfinished(project: string, worktree: ManagedWorktree): void {
  const text = unfinishedText(project, worktree);
  if (text !== null) throw new UserMistake('worktree_half_made', `the worktree ${worktree.name} ${text}`);
}

/** Git writes the index last: a tree without one was never checked out whole, and all its files count as deleted. */
export function isTorn(gitDirectory: string): boolean {
  return lstatSync(join(gitDirectory, 'index'), { throwIfNoEntry: false }) === undefined;
}

/** The same as `unfinishedText`, of any working tree; also of one that the registry has lost. */
export function unfinishedAt(
  project: string,
  { directory, gitDirectory }: { directory: string; gitDirectory: string },
): string | null {
  using registry = new WorktreeRegistry(project);
  const row = registry.list().findLast(({ path, state }) => path === directory && state !== 'gone');
  const text = row === undefined ? null : unfinishedText(project, row);
  return text ?? (isTorn(gitDirectory) ? tornText(directory) : null);
}

export function tornText(directory: string): string {
  return `has no index, as after a check-out that was killed, so every file counts as deleted: look at it first with git -C ${directory} status`;
}

/** Whether a hook runs for it that may make a worktree in its place. */
export function isHookAtWork(
  { project }: { project: string },
  row: Pick<ManagedWorktree, 'lease' | 'owner' | 'facts'>,
): boolean {
  const { hookRun } = row.facts;
  return hookRun !== undefined && hookRun.left === undefined && isHeld(project, row);
}

/**
 * Whether the holder of a worktree may be at work in it. A process that cannot be seen from here, in another container
 * or on another machine, is judged by its session: while it writes that, it lives; when nobody does, or another process
 * does, it is gone. Of one without a session nothing is known, so it counts as alive.
 */
export function isHeld(project: string, { lease, owner }: Pick<ManagedWorktree, 'lease' | 'owner'>): boolean {
  if (lease === null) return false;
  const sight = sightOf(lease);
  if (sight === 'here' || sight === 'rebooted' || owner === null) return isProcessAlive(lease);
  try {
    const writer = livingWriter({ project, session: owner.session });
    return writer !== null && writer.pid === lease.pid && writer.started === lease.started;
  } catch (error) {
    // Nobody writes a session that is not there.
    return !(error instanceof UserMistake);
  }
}
