/** The actors of a run, one for each task. Every transition is recorded here, and nothing else changes a task's status. */
import type { OperatorEvent, TaskChanged, TaskStatus } from '../../schema/operator-events.ts';
import type { OperatorState, TaskState } from './operator-state.ts';
import { createTaskActor, type TaskActor, type TaskEvent } from './task-machine.ts';

/** What is recorded along with a transition. */
export type TaskFacts = Partial<Omit<TaskChanged, 'type' | 'task' | 'status' | 'cause'>>;

export class TaskActors {
  readonly #actors: Map<string, TaskActor> = new Map();
  readonly #record: (event: OperatorEvent) => void;
  readonly #retries: number;

  constructor(retries: number, record: (event: OperatorEvent) => void) {
    this.#retries = retries;
    this.#record = record;
  }

  /** Makes the actor of a task where the record left it. */
  admit({ task, status, cause, failures, attempts }: TaskState): void {
    const live = attempts.filter(({ state }) => state === 'running').length;
    const offered = attempts.filter(({ state }) => state === 'ended').length;
    const context = { cause, failures, retries: this.#retries, live, offered };
    this.#actors.set(task.id, createTaskActor({ status, context }));
  }

  statusOf(id: string): TaskStatus | undefined {
    return this.#actors.get(id)?.status;
  }

  can(id: string, event: TaskEvent): boolean {
    return this.#actors.get(id)?.can(event) ?? false;
  }

  /** Returns the new status; null if the machine does not allow it now. `facts` may depend on what it is now. */
  change(
    id: string,
    event: TaskEvent,
    facts: TaskFacts | ((status: TaskStatus) => TaskFacts) = {},
  ): TaskStatus | null {
    const actor = this.#actors.get(id);
    if (actor === undefined || !actor.can(event)) return null;
    const { failures } = actor.context;
    actor.send(event);
    const { status, context } = actor;
    this.#record({
      ...{ type: 'task.changed', task: id, status, cause: context.cause },
      ...(context.failures !== failures && { failures: context.failures }),
      ...(typeof facts === 'function' ? facts(status) : facts),
    });
    return status;
  }

  /** Something more is known about a task, and its status is the same. */
  note(id: string, facts: TaskFacts): void {
    const actor = this.#actors.get(id);
    if (actor === undefined) return;
    const { status, context } = actor;
    this.#record({ type: 'task.changed', task: id, status, cause: context.cause, ...facts });
  }
}

/** For questions about what is allowed: nothing is recorded. */
export function actorsOf(state: OperatorState, tasks: readonly TaskState[]): TaskActors {
  const actors = new TaskActors(state.run?.retries ?? 0, () => {});
  for (const task of tasks) actors.admit(task);
  return actors;
}
