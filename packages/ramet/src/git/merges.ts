/**
 * Merging branches, for commands and the library: other rooms import this file late. It only passes on what the files of
 * `merge/` make, so that they are one door and one late import. The room has few doors, or anybody could depend on any step.
 * Places for checks are not here: commands of agents take them too (`system/check-slots.ts`).
 */
export { currentBranch } from './merge/branch-checkouts.ts';
export { branchCommits } from './merge/branch-commits.ts';
export { checkCommit } from './merge/chain-for-target.ts';
export { buildCheckedChain } from './merge/checked-chain.ts';
export { conflictMatrix } from './merge/conflict-matrix.ts';
export { describeConflicts } from './merge/integration.ts';
export { integrationRef, shortName } from './merge/integration-refs.ts';
export {
  DEFAULT_CHECK_SECONDS,
  listedEntries,
  shellWord,
  stepsToResolve,
  wayToBranch,
} from './merge/merge-advice.ts';
export { openMergeEntries } from './merge/merge-entries.ts';
export { mergeMessage } from './merge/merge-message.ts';
export { requireObjectId } from './merge/merge-output.ts';
export { runMergeQueue } from './merge/merge-queue.ts';
export {
  callIn,
  findMergeRepository,
  isAncestor,
  lookUpCommits,
  readRef as readCommit,
  resolveCommits,
} from './merge/merge-repository.ts';
export { mergeTrees } from './merge/merge-trees.ts';
export { removeDeadLocks } from './merge/noted-locks.ts';
export { openPrivateWorktree, removePrivateWorktree } from './merge/private-worktree.ts';
export { commitReplayed, replayWork } from './merge/replay-work.ts';
export { updateRefs } from './merge/update-refs.ts';
export { noIdentityFrom, writeScratchCommit } from './merge/write-commit.ts';
