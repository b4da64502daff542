/**
 * What the library can do besides sessions. Each function loads what it needs when it is called: a program that only
 * runs agents does not pay for merging.
 */
import type { BlamedLine, ConflictMatrix, MergeEntry, MergeReport } from '../git/shapes.ts';
import { UserMistake } from '../schema/errors.ts';
import type { OperatorAction } from '../schema/operator-events.ts';
import type { WorktreeView } from '../views/worktree-view.ts';
import { ACTION, checkArgument, checkOptions, NAME, NAMES } from './calls/argument-kinds.ts';
import type { CallOptions } from './calls/caller.ts';
import {
  CALL,
  COLLECT,
  COMMIT,
  CONTINUE,
  DIFF,
  LIST,
  MERGE,
  REMOVE,
  RUN,
  STATUS,
  STOP,
  TARGET,
  UNDO,
} from './calls/check-arguments.ts';
import type { DiffOptions } from './calls/provenance.ts';
import type { SessionBill, SessionStatus } from './calls/status.ts';
import type { StopOptions, StopOutcome } from './calls/stop.ts';
import type { UndoOptions, UndoOutcome } from './calls/undo.ts';
import type { MergeOptions, MergeTargetOptions } from './merge/merge.ts';
import type { AskedOutcome, RunCallOptions, RunOverview } from './operator/control/ask-operator.ts';
import type {
  CollectedWorktree,
  CommittedWorktree,
  RemovedWorktree,
  WorktreeList,
} from './worktrees/worktrees.ts';

/** What would conflict with what, and in which order to merge; nothing is merged. */
export async function previewMerge(
  branches: readonly string[],
  options?: MergeTargetOptions,
): Promise<ConflictMatrix> {
  checkArgument('previewMerge', 'the argument for branches', branches, NAMES);
  checkOptions('previewMerge', options, TARGET);
  return (await import('./merge/merge.ts')).previewMerge(branches, options);
}

/** Merges branches one after the other, each checked, without touching a checkout. */
export async function mergeBranches(
  branches: readonly string[],
  options?: MergeOptions,
): Promise<MergeReport> {
  checkArgument('mergeBranches', 'the argument for branches', branches, NAMES);
  checkOptions('mergeBranches', options, MERGE);
  return (await import('./merge/merge.ts')).mergeBranches(branches, options);
}

/** Continues what waits for the target, with the check and the policy of its last run. */
export async function continueMerge(
  options?: MergeOptions & { branches?: readonly string[] },
): Promise<MergeReport> {
  checkOptions('continueMerge', options, CONTINUE);
  return (await import('./merge/merge.ts')).continueMerge(options);
}

/** What waits to be merged, what was left behind and why. */
export async function mergeQueue(options?: MergeTargetOptions): Promise<MergeEntry[]> {
  checkOptions('mergeQueue', options, TARGET);
  return (await import('./merge/merge.ts')).mergeQueue(options);
}

/**
 * Puts back the files that Write and Edit changed in a session, or takes that back; of the latest when none is named.
 */
export async function undo(session?: string, options?: UndoOptions): Promise<UndoOutcome> {
  if (session !== undefined) checkArgument('undo', 'the session', session, NAME);
  checkOptions('undo', options, UNDO);
  return (await import('./calls/undo.ts')).undo(session, options);
}

/** Ends a session or one agent of it. A session of another process ends with that process, and all that it runs. */
export async function stop(target?: string, options?: StopOptions): Promise<StopOutcome> {
  if (target !== undefined) checkArgument('stop', 'the session or agent', target, NAME);
  checkOptions('stop', options, STOP);
  return (await import('./calls/stop.ts')).stop(target, options);
}

/** The sessions of a repository with their agents, the newest first. */
export async function status(options?: CallOptions & { limit?: number }): Promise<SessionStatus[]> {
  checkOptions('status', options, STATUS);
  return (await import('./calls/status.ts')).status(options);
}

/** The bill of a session; of the latest when none is named. */
export async function cost(session?: string, options?: CallOptions): Promise<SessionBill> {
  if (session !== undefined) checkArgument('cost', 'the session', session, NAME);
  checkOptions('cost', options, CALL);
  const calls = await import('./calls/status.ts');
  return calls.billOf(calls.cost(session, options));
}

/** A run of tasks as it is now: the one under way here, or else the latest. */
export async function operatorStatus(options?: RunCallOptions): Promise<RunOverview> {
  checkOptions('operatorStatus', options, RUN);
  return (await import('./operator/control/ask-operator.ts')).runOverview(options);
}

/** Asks a run of any process for something. Where nobody runs it, that waits until the run is resumed. */
export async function askOperator(action: OperatorAction, options?: RunCallOptions): Promise<AskedOutcome> {
  checkArgument('askOperator', 'the action', action, ACTION);
  checkOptions('askOperator', options, RUN);
  const { readAction } = await import('./operator/control/read-action.ts');
  const read = readAction(action);
  if ('problem' in read) throw new UserMistake('bad_argument', `askOperator: ${read.problem}`);
  return (await import('./operator/control/ask-operator.ts')).askOperator(read.action, options);
}

/** Which agent wrote each line of a file, and why. */
export async function blame(file: string, options?: CallOptions): Promise<BlamedLine[]> {
  checkArgument('blame', 'the file', file, NAME);
  checkOptions('blame', options, CALL);
  return (await import('./calls/provenance.ts')).blame(file, options);
}

/** What a branch, a session or an agent changed, in git's format. */
export async function diff(target: string, options?: DiffOptions): Promise<string> {
  checkArgument('diff', 'what to compare', target, NAME);
  checkOptions('diff', options, DIFF);
  return (await import('./calls/provenance.ts')).diff(target, options);
}

export async function listWorktrees(
  options?: CallOptions & { all?: boolean; patience?: AbortSignal },
): Promise<WorktreeList> {
  checkOptions('listWorktrees', options, LIST);
  return (await import('./worktrees/worktrees.ts')).listWorktrees(options);
}

/** `worktree` is a name, path, branch or id, or the agent whose it is. */
export async function showWorktree(worktree: string, options?: CallOptions): Promise<WorktreeView> {
  checkArgument('showWorktree', 'the worktree', worktree, NAME);
  checkOptions('showWorktree', options, CALL);
  return (await import('./worktrees/worktrees.ts')).showWorktree(worktree, options);
}

/** Commits everything in a worktree in the name of its agent. */
export async function commitWorktree(
  worktree: string,
  options?: CallOptions & { message?: string },
): Promise<CommittedWorktree> {
  checkArgument('commitWorktree', 'the worktree', worktree, NAME);
  checkOptions('commitWorktree', options, COMMIT);
  return (await import('./worktrees/worktrees.ts')).commitWorktree(worktree, options);
}

/** One after the other. A worktree with changes stays unless `force` is set; then it is kept on a ref first. */
export async function* removeWorktrees(
  worktrees: readonly string[],
  options?: CallOptions & { force?: boolean },
): AsyncGenerator<RemovedWorktree, void> {
  checkArgument('removeWorktrees', 'the argument for worktrees', worktrees, NAMES);
  checkOptions('removeWorktrees', options, REMOVE);
  yield* (await import('./worktrees/worktrees.ts')).removeWorktrees(worktrees, options);
}

/** Removes the worktrees that have no changes and that no one will continue. */
export async function collectWorktrees(
  options?: CallOptions & { dryRun?: boolean },
): Promise<{ worktrees: CollectedWorktree[]; notes: string[] }> {
  checkOptions('collectWorktrees', options, COLLECT);
  return (await import('./worktrees/worktrees.ts')).collectWorktrees(options);
}
