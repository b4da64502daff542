/** A worktree as people see it: whose it is, what it holds, and whether it may go. */

import { join } from 'node:path';
import { indexBytes } from '../../workspace/worktrees/index-bytes.ts';
import { isHeld } from '../../workspace/worktrees/lease-holder.ts';
import { verdictOf, type WorktreeVerdict } from '../../workspace/worktrees/verdict.ts';
import type { ManagedWorktree } from '../../workspace/worktrees/worktree.ts';
import { adminDirectory, type WorktreePlace } from '../../workspace/worktrees/worktree-place.ts';

export interface WorktreeView {
  name: string;
  path: string;
  branch: string | null;
  base: string;
  /** Whose it is, or was. */
  agent: string | null;
  slot: number;
  /** What its files take; without what git does not track, unless it is in the pool. Null when not known. */
  bytes: number | null;
  state: string;
  /** Why it stays; none for one that holds nothing. Null when it is not there to be judged. */
  holds: string[] | null;
}

export async function viewOf(place: WorktreePlace, worktree: ManagedWorktree): Promise<WorktreeView> {
  const { name, path, branch, base, slot, owner } = worktree;
  const isThere = worktree.state === 'leased' || worktree.state === 'released';
  // Who works in it is its state; what it holds is another matter.
  const verdict = isThere ? await verdictOf(place, worktree, { isHolder: true }) : null;
  const holds = verdict?.reasons.map(({ text }) => text) ?? null;
  return {
    ...{ name, path, branch, base, agent: owner?.agent ?? null, slot },
    bytes: bytesOf(place, worktree),
    state: stateOf(place, worktree, verdict),
    holds,
  };
}

function bytesOf(place: WorktreePlace, worktree: ManagedWorktree): number | null {
  if (worktree.state === 'gone') return null;
  return (
    worktree.facts.bytes ??
    indexBytes(join(adminDirectory(place, worktree), 'index'), worktree.base.length / 2)
  );
}

/** `3.1 GB`. */
export function sizeText(bytes: number | null): string {
  if (bytes === null) return '';
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

function stateOf(
  { project }: WorktreePlace,
  worktree: ManagedWorktree,
  verdict: WorktreeVerdict | null,
): string {
  const { state, lease } = worktree;
  if (verdict?.isMissing) return 'directory deleted';
  if (state === 'released') return 'kept';
  if (state !== 'leased') return state;
  return isHeld(project, worktree) ? `in use by process ${lease?.pid}` : 'left by a process that ended';
}

export function holdsText({ holds }: WorktreeView): string {
  if (holds === null) return '';
  return holds.length === 0 ? 'nothing' : holds.join('; ');
}
