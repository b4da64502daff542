/** Work that was never rejected and waits only for its reviewers, and a person who approves in their place (OP-5). */
import type { AttemptChange, OperatorAction, OperatorRun } from '../../schema/operator-events.ts';
import { openReviews } from './decisions.ts';
import type { TaskAttempt, TaskState } from './operator-state.ts';

export type ApproveAction = Extract<OperatorAction, { kind: 'approve' }>;

/** The attempt whose reviewers gave no verdict; null if that is not why the task waits. */
export function unreviewed(task: TaskState | undefined): TaskAttempt | null {
  if (task?.status !== 'blocked' || task.cause !== 'review') return null;
  return task.attempts.findLast(({ state, commit }) => state === 'ended' && commit !== null) ?? null;
}

/** The attempt that a person may approve: its review is open, or it was refused and nothing came after it. */
export function approvable(task: TaskState | undefined, run: OperatorRun | null): TaskAttempt | null {
  const last = task?.attempts.at(-1);
  if (task === undefined || last === undefined || last.commit === null) return null;
  if (unreviewed(task) !== null) return last;
  const isRefused = task.status === 'frozen' || task.status === 'waiting';
  if (isRefused && task.cause === 'review' && last.cause === 'review') return last;
  const isInReview = task.status === 'verifying' && last.state === 'ended';
  return isInReview && run !== null && openReviews(run, task.task, last).length > 0 ? last : null;
}

/** On record with who it was, and for that commit alone. */
export function approvalOf({ number, reviews }: TaskAttempt, { commit, who }: ApproveAction): AttemptChange {
  const facts = { type: 'person', commit, agent: null, approved: true, costUsd: 0 };
  const review = { ...facts, reasons: `approved by ${who}`, by: who };
  return { number, state: 'ended', cause: null, message: null, reviews: [...reviews, review] };
}

/** So often one type of reviewer is asked about a commit, if it gives no verdict. */
const MOST_SILENT = 3;

/** Whether a type has ended without a verdict too often to be asked again. */
export function isSilent({ silent, forgiven }: TaskAttempt, type: string): boolean {
  return silent.slice(forgiven).filter((one) => one.type === type).length >= MOST_SILENT;
}
