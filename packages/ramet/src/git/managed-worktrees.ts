/**
 * The worktrees that Ramet keeps, for commands and views: other rooms import this file late. It only passes on what the
 * files of `worktrees/` make, so that they are one door and one late import.
 */

export { keepsRefsInFiles } from './create-branch.ts';
export { damageAdvice, headRef, isDamagedRef, isPlainRef, readHead } from './read-refs.ts';
export { setAside, sweepShared } from './special-files.ts';
export { addAll, leftOutText } from './worktrees/changes/add-all.ts';
export { checkpointRef } from './worktrees/changes/checkpoint.ts';
export { checkoutTrees } from './worktrees/changes/dirty-work.ts';
export { otherBranches, strayHead } from './worktrees/changes/held-commits.ts';
export { moveApart } from './worktrees/changes/keep-work.ts';
export { knownFiles } from './worktrees/changes/known-files.ts';
export { verdictOf } from './worktrees/changes/verdict.ts';
export { workInTime } from './worktrees/changes/work-in-time.ts';
export { checkPackages } from './worktrees/dependencies/check-packages.ts';
export { isHalfMade, isHeld, isTorn, refuseUnfinished, tornText } from './worktrees/half-made.ts';
export { leftByHooks } from './worktrees/hooked/expect-directory.ts';
export { knownBytes, treeBytes } from './worktrees/pool/pool-size.ts';
export { stockPool } from './worktrees/pool/stock-pool.ts';
export { isTreeOf, replaceAdminFile } from './worktrees/register-worktree.ts';
export { collectGarbage } from './worktrees/removal/collect-garbage.ts';
export { undoHalfMade } from './worktrees/removal/left-behind.ts';
export { lostWorktrees, pruneLost } from './worktrees/removal/lost-worktrees.ts';
export { staleLockNotes } from './worktrees/removal/ref-locks.ts';
export { settleWorktree } from './worktrees/removal/release-worktree.ts';
export { removeWorktree } from './worktrees/removal/remove-worktree.ts';
export { deleteLeftBranches } from './worktrees/removal/safe-branch.ts';
export { copyIndex, withScratch } from './worktrees/scratch-index.ts';
export { mendHead, mendIndex, repairsOf, takeRepairs, trustedGit } from './worktrees/trusted-git.ts';
export { unlockWorktree } from './worktrees/unlock-worktree.ts';
export { clonePath, makeClone, removeClone } from './worktrees/workspace/clone-workspace.ts';
export { sharedWorkspace } from './worktrees/workspace/shared-workspace.ts';
export { excludeSettings, worktreeEnvironment } from './worktrees/worktree-environment.ts';
export { adminDirectory, openWorktreePlace } from './worktrees/worktree-place.ts';
