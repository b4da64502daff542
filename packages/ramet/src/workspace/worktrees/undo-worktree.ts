/**
 * Takes back a worktree that nobody has worked in: one that could not be made, or whose maker was killed. What it
 * holds are copies. The branch goes only while it is where it began.
 */
import { deleteDirectory } from './delete-directory.ts';
import { isTreeOf, removeIfEmpty, unregisterWorktree } from './register-worktree.ts';
import { slotHolder } from './reserve-worktree.ts';
import { deleteFreshBranch, deleteSafeBranch } from './safe-branch.ts';
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
  if (branch !== null && facts.hadBranch !== true) await deleteFreshBranch(place, branch, base);
  if (facts.formerBranch !== undefined) await deleteSafeBranch(place, facts.formerBranch);
  place.registry.forget(worktree.id);
  freeSlot(place.home, worktree.slot, slotHolder(place, worktree.id));
}
