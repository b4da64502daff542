/**
 * Takes back a worktree that nobody has worked in: one that could not be made, or whose maker was killed. What it
 * holds are copies. The branch goes only while it is where it began.
 */
import { existsSync } from 'node:fs';
import { readRef } from '../read-refs.ts';
import { freeSlot } from './pool/slots.ts';
import { isTreeOf, removeIfEmpty, unregisterWorktree } from './register-worktree.ts';
import { deleteDirectory } from './removal/delete-directory.ts';
import { deleteFreshBranch, deleteSafeBranch } from './removal/safe-branch.ts';
import { slotHolder } from './reserve-worktree.ts';
import type { ManagedWorktree } from './worktree.ts';
import { adminDirectory, type WorktreePlace } from './worktree-place.ts';

export async function undoWorktree(place: WorktreePlace, worktree: ManagedWorktree): Promise<void> {
  const { path, branch, base, facts } = worktree;
  if (isNowhere(place, worktree)) return forget(place, worktree);
  for (const directory of [path, facts.elsewhere]) {
    if (directory === undefined) continue;
    if (isTreeOf(directory, worktree)) await deleteDirectory(directory, worktree);
    else removeIfEmpty(directory);
  }
  await unregisterWorktree(place, worktree);
  if (branch !== null && facts.hadBranch !== true) await deleteFreshBranch(place, branch, base);
  if (facts.formerBranch !== undefined) await deleteSafeBranch(place, facts.formerBranch, facts.formerBase);
  forget(place, worktree);
}

/** Nothing of it was made yet, as where the git directory cannot be written: then nothing there has to be taken back. */
function isNowhere(place: WorktreePlace, worktree: ManagedWorktree): boolean {
  const { path, branch, facts } = worktree;
  const ref = branch === null ? null : readRef(place.repository.commonDirectory, `refs/heads/${branch}`);
  const paths = [path, facts.elsewhere, adminDirectory(place, worktree)];
  const isThere = paths.some((each) => each !== undefined && existsSync(each));
  return !isThere && ref === null && facts.formerBranch === undefined;
}

function forget({ registry, home, project }: WorktreePlace, { id, slot }: ManagedWorktree): void {
  registry.forget(id);
  freeSlot(home, slot, slotHolder({ project }, id));
}
