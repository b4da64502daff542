/** The last words of a run: why tasks are left, and how it ended. */
import type { OperatorEvent } from '../../schema/operator-events.ts';
import { unrepaired } from './base-check.ts';
import { spentAll, strandedTasks } from './decisions.ts';
import type { OperatorState } from './operator-state.ts';
import type { TaskActors } from './task-actors.ts';

/** Behind why the money is gone. */
export const REVIEW_WAITS = ', and a review waits';

export interface EndingParts {
  readonly actors: TaskActors;
  state(): OperatorState;
  drain(cause: string, message: string): void;
  record(event: OperatorEvent): void;
}

export function recordEnd({ actors, state, drain, record }: EndingParts): void {
  const why = unrepaired(state());
  if (why !== null) drain('base_check', why);
  if (state().status === 'running')
    for (const [id, waits] of strandedTasks(state()))
      actors.change(id, { type: 'strand' }, { message: `it waits for ${waits.slice(0, 5).join(', ')}` });
  const { status, cause, message } = state();
  const isWhole = status === 'running' || status === 'paused';
  // Agents that were under way when the money was gone have cost something, too.
  const spent = cause === 'budget' ? spentAll(state()) : null;
  const waits = message?.endsWith(REVIEW_WAITS) === true ? REVIEW_WAITS : '';
  const last = spent === null ? message : `${spent}${waits}`;
  const end = isWhole ? { cause: null, message: null } : { cause, message: last };
  record({ type: 'operator.changed', status: 'ended', ...end });
}
