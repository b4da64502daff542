/** What people, models and programs may ask of a run. The machine says what is allowed; a refusal names what is. */
import type { OperatorAction, OperatorEvent } from '../../schema/operator-events.ts';
import { type OperatorState, taskOf } from './operator-state.ts';
import type { OperatorPorts } from './ports.ts';
import type { TaskActors } from './task-actors.ts';

export interface ActionParts {
  readonly actors: TaskActors;
  readonly ports: OperatorPorts;
  state(): OperatorState;
  record(event: OperatorEvent): void;
  /** The tasks that may start have changed. */
  requeue(): void;
  /** Ends the agents of a task. */
  stop(id: string, reason: string): void;
  resetBreaker(): void;
}

/** What can be asked for now, about one task or about the run. */
export function allowedActions(
  state: OperatorState,
  actors: Pick<TaskActors, 'can'>,
  task?: string,
): OperatorAction['kind'][] {
  if (task !== undefined) {
    const { status, cause, question } = taskOf(state, task) ?? {};
    return [
      ...(actors.can(task, { type: 'skip' }) ? (['skip'] as const) : []),
      ...(status === 'blocked' && cause === 'gate' ? (['start'] as const) : []),
      ...(actors.can(task, { type: 'retry' }) && cause !== 'gate' ? (['retry'] as const) : []),
      ...(question ? (['answer'] as const) : []),
    ];
  }
  if (state.status === 'ended') return ['add'];
  return ['add', ...(state.status === 'running' ? (['pause'] as const) : (['resume'] as const)), 'stop'];
}

/** Returns why not; null when it was carried out. */
export function carryOut(action: OperatorAction, parts: ActionParts): string | null {
  const state = parts.state();
  switch (action.kind) {
    case 'skip':
    case 'retry':
    case 'start':
      return aboutTask(action.kind, action.task, parts);
    case 'answer':
      if (parts.ports.answer?.(action.question, action.answer) === true) return null;
      return `there is no open question ${action.question}`;
    case 'add':
      return add(action.tasks, parts);
    default: {
      const allowed = allowedActions(state, parts.actors);
      if (!allowed.includes(action.kind)) return notNow(action.kind, `the run is ${state.status}`, allowed);
      if (action.kind === 'resume') parts.resetBreaker();
      const status = { pause: 'paused', resume: 'running', stop: 'draining' } as const;
      parts.record({
        ...{
          type: 'operator.changed',
          status: status[action.kind],
          cause: action.kind === 'resume' ? null : 'person',
        },
        message: null,
      });
      return null;
    }
  }
}

function aboutTask(kind: 'skip' | 'retry' | 'start', id: string, parts: ActionParts): string | null {
  const task = taskOf(parts.state(), id);
  if (task === undefined) return `there is no task ${id} in this run`;
  const allowed = allowedActions(parts.state(), parts.actors, id);
  if (!allowed.includes(kind)) return notNow(kind, `${id} is ${task.status}`, allowed);
  parts.actors.change(id, { type: kind === 'start' ? 'retry' : kind });
  if (kind === 'skip') parts.stop(id, 'skipped');
  parts.requeue();
  return null;
}

function add(tasks: Extract<OperatorAction, { kind: 'add' }>['tasks'], parts: ActionParts): string | null {
  const known = tasks.find(({ id }) => taskOf(parts.state(), id) !== undefined);
  if (known !== undefined) return `there is a task ${known.id} already: give it another id`;
  parts.record({ type: 'operator.tasks_added', tasks });
  for (const { id } of tasks) {
    const task = taskOf(parts.state(), id);
    if (task !== undefined) parts.actors.admit(task);
  }
  parts.requeue();
  return null;
}

function notNow(kind: string, why: string, allowed: readonly string[]): string {
  const instead = allowed.length === 0 ? 'nothing can be asked for' : `possible now: ${allowed.join(', ')}`;
  return `${kind} is not possible: ${why}; ${instead}`;
}
