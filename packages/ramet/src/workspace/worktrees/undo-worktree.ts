/**
 * Takes back a worktree that nobody has worked in: one that could not be made, or whose maker was killed. What it
 * holds are copies. The branch goes only while it is where it began.
 */
import { readRef } from '../git/read-refs.ts';
import { deleteDirectory } from './delete-directory.ts';
import { deleteBranch, isTreeOf, removeIfEmpty, unregisterWorktree } from './register-worktree.ts';
import { slotHolder } from './reserve-worktree.ts';
import { freeSlot } from './slots.ts';
import type { ManagedWorktree } from './worktree.ts';
import type { WorktreePlace } from './worktree-place.ts';

export async function undoWorktree(place: WorktreePlace, worktree: ManagedWorktree): Promise<void> {
  const { path, branch, base, facts } = worktree;
  for (const directory of [path, facts.elsewhere]) {
    if (directory === undefined) continue;
    if (isTreeOf(directory, worktree)) await deleteDirectory(directory, worktree);
    else removeIfEmpty(directory);
  }
  await unregisterWorktree(place, worktree);
  // A branch with another tip is not the one we made.
  if (
    branch !== null &&
    facts.hadBranch !== true &&
    readRef(place.repository.commonDirectory, `refs/heads/${branch}`) === base
  ) {
    await deleteBranch(place, branch, base);
  }
  place.registry.forget(worktree.id);
  freeSlot(place.home, worktree.slot, slotHolder(place, worktree.id));
}
