/** What people, models and programs may ask of a run. The machine says what is allowed; a refusal names what is. */
import type { OperatorAction, OperatorEvent } from '../../schema/operator-events.ts';
import { type ApproveAction, approvable, approvalOf, unreviewed } from './approvals.ts';
import { type OperatorState, type TaskState, taskOf, tasksOf } from './operator-state.ts';
import type { OperatorPorts } from './ports.ts';
import type { TaskActors } from './task-actors.ts';

export interface ActionParts {
  readonly by: 'person' | 'model' | 'program';
  readonly actors: TaskActors;
  readonly ports: OperatorPorts;
  state(): OperatorState;
  record(event: OperatorEvent): void;
  /** The tasks that may start have changed. */
  requeue(): void;
  /** The work of an attempt is to be reviewed, where it has to be, and merged. */
  offer(id: string, number: number): void;
  /** Ends the agents of a task. */
  stop(id: string, reason: string): void;
  resetBreaker(): void;
}

/** What a model may ask for. Gates and permissions are questions to a person, and so is what else is to be done. */
export const MODEL_ACTIONS = ['pause', 'resume', 'stop', 'skip', 'retry'] as const;

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
      ...(task !== undefined && approvable(taskOf(state, task), state.run) !== null
        ? (['approve'] as const)
        : []),
      ...(question ? (['answer'] as const) : []),
    ];
  }
  if (state.status === 'ended') return ['add'];
  return ['add', ...(state.status === 'running' ? (['pause'] as const) : (['resume'] as const)), 'stop'];
}

/** Why a model may not ask for it: gates and permissions are questions to a person. Null for what it may. */
function forPerson({ kind }: OperatorAction, by: ActionParts['by']): string | null {
  const isForPerson = kind === 'start' || kind === 'answer' || kind === 'approve';
  return by === 'model' && isForPerson ? `${kind} is for a person` : null;
}

/** Why something is not possible now, and what the caller may ask for instead; null when it is. */
export function refusalOf(
  action: OperatorAction,
  state: OperatorState,
  actors: Pick<TaskActors, 'can'>,
  by: ActionParts['by'] = 'person',
): string | null {
  const person = forPerson(action, by);
  if (person !== null) return person;
  switch (action.kind) {
    case 'approve':
    case 'skip':
    case 'retry':
    case 'start': {
      const task = taskOf(state, action.task);
      if (task === undefined) return `there is no task ${action.task} in this run`;
      const allowed = allowedActions(state, actors, action.task);
      if (allowed.includes(action.kind))
        return action.kind === 'approve' ? otherCommit(action, task, state.run) : null;
      return notNow(action.kind, `${action.task} is ${task.status}`, permitted(allowed, by));
    }
    case 'answer':
      return unknownQuestion(action.question, state);
    case 'add': {
      const known = action.tasks.find(({ id }) => taskOf(state, id) !== undefined);
      return known === undefined ? null : `there is a task ${known.id} already: give it another id`;
    }
    default: {
      const allowed = allowedActions(state, actors);
      return allowed.includes(action.kind)
        ? null
        : notNow(action.kind, `the run is ${state.status}`, permitted(allowed, by));
    }
  }
}

function unknownQuestion(id: string, state: OperatorState): string | null {
  const open = tasksOf(state).flatMap(({ question }) => question?.id ?? []);
  if (open.includes(id)) return null;
  const others = open.length === 0 ? 'nothing is asked now' : `open are ${open.join(', ')}`;
  return `there is no open question ${id}: ${others}`;
}

/** Returns why not; null when it was carried out. */
export function carryOut(action: OperatorAction, parts: ActionParts): string | null {
  const refused = refusalOf(action, parts.state(), parts.actors, parts.by);
  if (refused !== null) return refused;
  switch (action.kind) {
    case 'approve':
      return approve(action, parts);
    case 'retry': {
      const open = unreviewed(taskOf(parts.state(), action.task));
      if (open === null) return changeTask(action, parts);
      const attempt = { number: open.number, forgiven: open.silent.length };
      parts.actors.change(action.task, { type: 'offered_again' }, { attempt });
      return offerAgain(action.task, open.number, parts);
    }
    case 'skip':
    case 'start':
      return changeTask(action, parts);
    case 'answer':
      if (parts.ports.answer?.(action.question, action.answer) === true) return null;
      return `there is no open question ${action.question}`;
    case 'add':
      add(action.tasks, parts);
      return null;
    default: {
      if (action.kind === 'resume') parts.resetBreaker();
      const status = { pause: 'paused', resume: 'running', stop: 'draining' } as const;
      const cause = action.kind === 'resume' ? null : 'person';
      parts.record({ type: 'operator.changed', status: status[action.kind], cause, message: null });
      return null;
    }
  }
}

/** Counts for the commit that the person has seen. */
function otherCommit({ commit }: ApproveAction, task: TaskState, run: OperatorState['run']): string | null {
  const now = approvable(task, run)?.commit ?? null;
  if (now === commit) return null;
  return `${task.task.id} is at commit ${now?.slice(0, 10)} by now, and not ${commit.slice(0, 10)}: look at it, then approve it again`;
}

function approve(action: ApproveAction, parts: ActionParts): null {
  const task = taskOf(parts.state(), action.task);
  const attempt = approvable(task, parts.state().run);
  if (task === undefined || attempt === null) return null;
  const change = { attempt: approvalOf(attempt, action) };
  if (task.status === 'verifying') parts.actors.note(action.task, change);
  else parts.actors.change(action.task, { type: 'offered_again' }, change);
  parts.stop(action.task, 'a person has approved it');
  return offerAgain(action.task, attempt.number, parts);
}

function offerAgain(id: string, number: number, parts: ActionParts): null {
  parts.requeue();
  parts.offer(id, number);
  return null;
}

function changeTask(
  action: Extract<OperatorAction, { kind: 'skip' | 'retry' | 'start' }>,
  parts: ActionParts,
): null {
  const conflict = taskOf(parts.state(), action.task)?.conflict ?? null;
  const fresh = action.kind === 'retry' && conflict !== null;
  parts.actors.change(
    action.task,
    { type: action.kind === 'start' ? 'retry' : action.kind },
    fresh ? { conflict: { ...conflict, earlier: conflict.rounds } } : {},
  );
  if (action.kind === 'skip') parts.stop(action.task, 'skipped');
  parts.requeue();
  return null;
}

function add(tasks: Extract<OperatorAction, { kind: 'add' }>['tasks'], parts: ActionParts): void {
  parts.record({ type: 'operator.tasks_added', tasks });
  for (const { id } of tasks) {
    const task = taskOf(parts.state(), id);
    if (task !== undefined) parts.actors.admit(task);
  }
  parts.requeue();
}

/** Of what can be asked for, what `by` may ask for. */
export function permitted(
  allowed: readonly OperatorAction['kind'][],
  by: ActionParts['by'],
): readonly OperatorAction['kind'][] {
  return by === 'model' ? MODEL_ACTIONS.filter((kind) => allowed.includes(kind)) : allowed;
}

function notNow(kind: string, why: string, allowed: readonly string[]): string {
  const instead = allowed.length === 0 ? 'nothing can be asked for' : `possible now: ${allowed.join(', ')}`;
  return `${kind} is not possible: ${why}; ${instead}`;
}
