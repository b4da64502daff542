/** What the end of an attempt means for its task: work to be reviewed and merged, a failure, or an interruption. */
import type { AttemptChange } from '../../schema/operator-events.ts';
import { isAsking } from './decisions.ts';
import { type OperatorState, taskOf } from './operator-state.ts';
import type { AttemptEnd } from './ports.ts';
import type { TaskActors } from './task-actors.ts';
import { type FailureNews, failureOf } from './task-failure.ts';

export interface EndParts {
  readonly actors: TaskActors;
  state(): OperatorState;
  /** Whether a check can show that a task that changed nothing is done. */
  mayBeUnchanged(id: string): boolean;
  /** Its work is on record. */
  offer(id: string, number: number): void;
  failed(id: string, news: FailureNews): void;
  /** Nothing more may start. */
  drain(cause: string, message: string | null): void;
}

export function takeEnd(id: string, end: AttemptEnd, attempt: AttemptChange, parts: EndParts): void {
  if (end.kind === 'worked')
    offer(id, { ...attempt, state: 'ended', commit: end.commit, files: end.files }, parts);
  else if (end.kind === 'unchanged') unchanged(id, end.isReport, attempt, parts);
  else if (end.kind === 'interrupted') interrupted(id, end, attempt, parts);
  else {
    const { cause, message, final = false, person } = end;
    parts.failed(id, { ...failureOf(attempt, cause, message), final, person });
  }
}

function offer(id: string, attempt: AttemptChange, parts: EndParts): void {
  if (parts.actors.change(id, { type: 'worked' }, { attempt }) === null)
    parts.actors.note(id, { attempt: { ...attempt, state: 'stopped' } });
  else parts.offer(id, attempt.number);
}

/** Nothing shows that anything was done, unless a check or the report itself is what counts. */
function unchanged(id: string, isReport: boolean, attempt: AttemptChange, parts: EndParts): void {
  if (isReport || parts.mayBeUnchanged(id))
    offer(id, { ...attempt, state: 'ended', commit: null, files: [] }, parts);
  else parts.failed(id, failureOf(attempt, 'no_changes', 'its agent is done and has changed nothing'));
}

/** One that waits for an answer keeps its question: it asks again when it is resumed. */
function interrupted(
  id: string,
  { cause, message }: Extract<AttemptEnd, { kind: 'interrupted' }>,
  { number, costUsd, usage, idle }: AttemptChange,
  { actors, state, drain }: EndParts,
): void {
  const task = taskOf(state(), id);
  const attempt = {
    number,
    ...(costUsd !== undefined && { costUsd }),
    ...(usage && { usage }),
    ...(idle && { idle }),
  };
  if (cause === 'limit' || cause === 'provider' || cause === 'members_stopped') drain(cause, message);
  if (task !== undefined && isAsking(task)) actors.note(id, { attempt });
  else if (actors.change(id, { type: 'interrupted', cause }, { message, attempt }) === null)
    actors.note(id, { attempt: { ...attempt, state: 'stopped' } });
}
