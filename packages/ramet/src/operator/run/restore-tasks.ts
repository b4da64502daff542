/** What an earlier process left under way continues: its agents, its merges, and the tasks that wait for their next try. */
import type { Clock } from '../../schema/clock.ts';
import type { Attempts } from './attempts.ts';
import { operateCommand } from './operate-command.ts';
import { type OperatorState, SUBMODULE_CAUSE, type TaskState, tasksOf } from './operator-state.ts';
import type { ResolvedWork } from './ports.ts';
import type { Reviews } from './reviews.ts';
import type { TaskActors } from './task-actors.ts';

/** Tasks that wait for the time of their next try. */
export class RetryTimers {
  readonly #waiting: Set<string> = new Set();
  readonly #clock: Clock;
  readonly #over: AbortSignal;
  readonly #onDue: (id: string) => void;

  /** None is due any more when `over` is aborted. */
  constructor(clock: Clock, over: AbortSignal, onDue: (id: string) => void) {
    [this.#clock, this.#over, this.#onDue] = [clock, over, onDue];
  }

  get size(): number {
    return this.#waiting.size;
  }

  set(id: string, until: number): void {
    if (this.#waiting.has(id)) return;
    this.#waiting.add(id);
    void this.#clock.sleep(Math.max(0, until - this.#clock.now()), this.#over).then(() => {
      if (this.#over.aborted) return;
      this.#waiting.delete(id);
      this.#onDue(id);
    });
  }
}

export interface RestoredParts {
  readonly actors: TaskActors;
  readonly timers: RetryTimers;
  readonly reviews: Reviews;
  readonly attempts: Attempts;
  readonly resolved: ReadonlyMap<string, ResolvedWork> | undefined;
}

export function restoreTasks(state: OperatorState, parts: RestoredParts): void {
  for (const task of tasksOf(state)) restoreTask(task, state, parts);
}

function restoreTask(
  task: TaskState,
  state: OperatorState,
  { actors, timers, reviews, attempts, resolved }: RestoredParts,
): void {
  const { id, held, gate } = task.task;
  const work = resolved?.get(id);
  if (work !== undefined && takeResolved(task, work, { actors, reviews })) return;
  const running = task.attempts.filter((attempt) => attempt.state === 'running');
  const isWaitingWork = task.attempts.some(({ state }) => state === 'ended');
  if (task.status === 'blocked' && task.cause === 'dependency' && isWaitingWork) {
    actors.change(id, { type: 'offered_again' });
    offerAgain(task, actors, reviews);
  } else if (task.status === 'blocked' && task.cause === 'dependency') actors.change(id, { type: 'retry' });
  else if (task.status === 'queued' && (held || gate !== null)) hold(task, state, actors);
  else if (task.status === 'waiting') timers.set(id, task.until ?? 0);
  else if (task.status === 'verifying' || task.status === 'merging') offerAgain(task, actors, reviews);
  else if (running.length > 0) actors.change(id, { type: 'resume', attempts: running.length });
  // What its agent waited for may be over.
  if (task.status === 'running' && task.until !== null) actors.note(id, { message: null, until: null });
  const status = actors.statusOf(id);
  if (status !== 'running' && status !== 'verifying') return;
  for (const { number } of running) attempts.begin(id, number, true);
}

/**
 * A person has resolved its conflict: that is reviewed, merged and checked as its work. If the person wants it done again
 * nevertheless, it is, unless the result has it already.
 */
function takeResolved(
  { task: { id }, status, cause }: TaskState,
  { number, branch, commit, isIn }: ResolvedWork,
  { actors, reviews }: Pick<RestoredParts, 'actors' | 'reviews'>,
): boolean {
  if (status === 'frozen' && cause === 'removed') return actors.change(id, { type: 'restored' }) !== null;
  if (status !== 'frozen' && !((status === 'queued' || status === 'waiting') && isIn)) return false;
  const attempt = { number, state: 'ended', branch, commit, cause: null, message: null } as const;
  const message =
    cause === SUBMODULE_CAUSE
      ? 'a person has pushed the commit of its submodule'
      : 'a person has resolved its conflict';
  if (actors.change(id, { type: 'offered_again' }, { attempt, message }) === null) return false;
  reviews.offer(id, number, true);
  return true;
}

/** What an earlier process had in hand; verdicts on record are not asked for again. */
function offerAgain(
  { task: { id }, status, attempts }: TaskState,
  actors: TaskActors,
  reviews: Reviews,
): void {
  if (status === 'merging') actors.change(id, { type: 'resume', attempts: 0 });
  for (const { number, state } of attempts) if (state === 'ended') reviews.offer(id, number, true);
}

/** Once: a person who has started it is not asked again. */
function hold({ task }: TaskState, { asked, run }: OperatorState, actors: TaskActors): void {
  const isStarted = asked.some(
    ({ action, refused }) => refused === null && action.kind === 'start' && action.task === task.id,
  );
  if (isStarted) return;
  const message = task.gate ?? 'it is deferred';
  const person = `${message}; then: ${operateCommand(run, 'start', task.id)}`;
  actors.change(task.id, { type: 'gate', cause: 'gate' }, { message, person });
}
