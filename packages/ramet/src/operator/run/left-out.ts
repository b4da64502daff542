/**
 * Work that was done and is taken out of the result again, because the target has moved and it does not fit. What waits for
 * it is not to land without it.
 */
import type { LeftOut, OperatorRun, RunTask, TaskConflict } from '../../schema/operator-events.ts';
import { needs } from './decisions.ts';
import { isDoneWith, type OperatorState, type TaskState, taskOf, tasksOf } from './operator-state.ts';
import type { LandingWork } from './ports.ts';
import type { FailureNews } from './task-failure.ts';

/** What a finished task waits for once more. Nothing, as long as all work has stayed where it was. */
export function openNeeds(state: OperatorState, task: RunTask): string[] {
  if (state.rebased === 0) return [];
  const open = tasksOf(state).filter((other) => !isDoneWith(other) && needs(task, other.task));
  return open.map((other) => other.task.id);
}

/** Where the work of done tasks is. */
export function landingWork(state: OperatorState): LandingWork[] {
  return tasksOf(state).flatMap(({ task, status, result, attempts }) => {
    if (status !== 'done' || result === null) return [];
    const attempt = attempts.findLast(({ state }) => state === 'passed');
    return [{ task, result, ...(attempt !== undefined && { attempt }) }];
  });
}

/** After this many conflicts of one task a person decides; if that is to do it again, it has as many once more. */
const MOST_ROUNDS = 3;

/** What one more conflict means for a task: `final` if it is for a person now. */
export function conflictNews(
  task: TaskState | undefined,
  files: readonly string[],
  { onConflict }: OperatorRun,
): { final: boolean; conflict: TaskConflict } {
  const { rounds: before = 0, earlier = 0 } = task?.conflict ?? {};
  const rounds = before + 1;
  return {
    final: onConflict === 'person' || rounds - earlier >= MOST_ROUNDS,
    conflict: { files, rounds, ...(earlier > 0 && { earlier }) },
  };
}

/** What being left out means for a task that is to be done again. */
export function leavingNews(left: LeftOut, state: OperatorState, run: OperatorRun): FailureNews {
  const { cause, message, files, check, steps } = left;
  const task = taskOf(state, left.task);
  const passed = task?.attempts.findLast((attempt) => attempt.state === 'passed');
  return {
    ...{ event: 'left_out', cause, message },
    ...(cause === 'conflict' && { ...conflictNews(task, files, run), steps }),
    ...(check !== null && { check }),
    ...(passed !== undefined && {
      attempt: { number: passed.number, state: 'failed', cause, message, check },
    }),
  };
}
