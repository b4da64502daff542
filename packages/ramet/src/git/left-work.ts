/**
 * What agents did to files and left in git, taken as work: for the operator, which imports this file late. It only passes on what the
 * files of `left-work/` and `changed-paths.ts` make, so that they are one door.
 */
export {
  type ChangedPath,
  changedPaths,
  covered,
  keepWork,
  keptBefore,
  putFiles,
  treeWith,
  undone,
  unreadableObject,
} from './changed-paths.ts';
export {
  adoptHead,
  headOf,
  mendOwnBranch,
  missingFrom,
  showAfresh,
  showCommit,
} from './left-work/adopt-head.ts';
export { clonedLog, clonedTip, leftInClone } from './left-work/cloned-tip.ts';
export {
  type FreshRef,
  freshRefs,
  type RefNaming,
  unknownRefNotes,
} from './left-work/fresh-refs.ts';
export { leftBeside, leftOnRefs, type OwnWork, otherWork } from './left-work/other-work.ts';
export {
  type LeftCommit,
  strayObjection,
  takenNote,
  tipOf,
  type WorkObjection,
  type WorkReading,
  wholeWork,
} from './left-work/own-commits.ts';
export {
  fetchSteps,
  pushSteps,
  type SubmoduleCommit,
  type SubmoduleSite,
  type UnsharedSubmodule,
  unsharedSubmodules,
} from './left-work/submodule-commits.ts';
export { ownLog } from './worktrees/changes/held-commits.ts';
