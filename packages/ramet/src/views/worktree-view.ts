/** A worktree as people see it: whose it is, what it holds, and whether it may go. */
import {
  isHalfMade,
  isHeld,
  isTreeOf,
  knownBytes,
  strayHead,
  verdictOf,
  workInTime,
} from '../git/managed-worktrees.ts';
import type { ManagedWorktree, WorkInFiles, WorktreePlace, WorktreeVerdict } from '../git/shapes.ts';
import { fewAtOnce } from '../system/few-at-once.ts';
import { duration } from './text/format.ts';

export interface WorktreeView {
  name: string;
  path: string;
  branch: string | null;
  /** What HEAD is on when not on `branch`: another branch, or a commit's id. */
  head: string | null;
  base: string;
  /** Whose it is, or was. */
  agent: string | null;
  slot: number;
  /** What its files take on the disk; in a list without what git does not track, unless it is in the pool. Null when not known. */
  bytes: number | null;
  state: string;
  /** Why it stays; none for one that holds nothing. Null when it is not there to be judged. */
  holds: string[] | null;
  /** How long ago its files were read; 0 for now. */
  seenMsAgo: number;
}

/** Those of a list, as far as that can be told before `patience` ends; of the rest, what was found last. */
export async function viewsInTime(
  place: WorktreePlace,
  worktrees: readonly ManagedWorktree[],
  patience: AbortSignal,
): Promise<WorktreeView[]> {
  const since = place.now();
  const there = worktrees.filter((worktree) => isThere(worktree) && isTreeOf(worktree.path, worktree));
  const work = await workInTime(place, there, { patience });
  return fewAtOnce(worktrees, async (worktree) => {
    const found = work.get(worktree.id);
    const view = await viewOf(place, worktree, found);
    return { ...view, seenMsAgo: found === undefined ? 0 : Math.max(0, since - found.at) };
  });
}

function isThere({ state }: ManagedWorktree): boolean {
  return state === 'leased' || state === 'released';
}

export async function viewOf(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  work?: WorkInFiles,
): Promise<WorktreeView> {
  const { name, path, branch, base, slot, owner } = worktree;
  // Who works in it is its state; what it holds is another matter.
  const look = { isHolder: true, work: work?.reasons };
  const verdict = isThere(worktree) ? await verdictOf(place, worktree, look) : null;
  const holds = verdict?.reasons.map(({ text }) => text) ?? null;
  return {
    ...{ name, path, branch, head: headOf(worktree, verdict), base, agent: owner?.agent ?? null, slot },
    bytes: knownBytes(place, worktree),
    state: stateOf(place, worktree, verdict),
    holds,
    seenMsAgo: 0,
  };
}

function headOf(worktree: ManagedWorktree, verdict: WorktreeVerdict | null): string | null {
  return verdict === null || verdict.tips === null ? null : strayHead(worktree, verdict.tips);
}

/** `ramet/q`, or `on main, not ramet/q`. */
export function branchText({ branch, head }: WorktreeView): string | null {
  return head === null ? branch : `on ${head}, not ${branch}`;
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
  if (isHalfMade(project, worktree)) return 'half-made: ramet worktree gc removes it';
  if (state !== 'leased') return state;
  return isHeld(project, worktree) ? `in use by process ${lease?.pid}` : 'left by a process that ended';
}

export function holdsText({ holds, seenMsAgo }: WorktreeView): string {
  if (holds === null) return '';
  const age = seenMsAgo === 0 ? '' : ` (files as of ${duration(seenMsAgo)} ago)`;
  return `${holds.length === 0 ? 'nothing' : holds.join('; ')}${age}`;
}
