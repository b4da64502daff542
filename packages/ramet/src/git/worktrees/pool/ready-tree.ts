/** Finds a ready worktree of the pool for somebody who wants one; taking it is up to whoever asks, in one transaction. */
import { readHead } from '../../read-refs.ts';
import { isTreeOf } from '../register-worktree.ts';
import { isSamePart } from '../sparse-checkout.ts';
import type { ManagedWorktree, SparsePatterns } from '../worktree.ts';
import { adminDirectory, type WorktreePlace } from '../worktree-place.ts';

/** One with the same part of the files: at the wanted commit, else any. */
export function findReady(
  rows: readonly ManagedWorktree[],
  commit: string,
  patterns: SparsePatterns | undefined,
): ManagedWorktree | null {
  const ready = rows.filter(({ state, facts }) => state === 'ready' && isSamePart(facts.patterns, patterns));
  return ready.find(({ base }) => base === commit) ?? ready[0] ?? null;
}

/** Whether it is where the registry says, as it was verified. */
export function isAsRecorded(place: WorktreePlace, ready: ManagedWorktree): boolean {
  const head = readHead(adminDirectory(place, ready), place.repository.commonDirectory);
  return head?.ref === null && head.commit === ready.base && isTreeOf(ready.path, ready);
}
