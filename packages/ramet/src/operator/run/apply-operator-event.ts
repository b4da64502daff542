/**
 * How an event changes a run of the operator: the one fold of it, live, on resume and in every view. It is pure, and costs
 * what the event holds: a change of one of two thousand tasks copies that task alone.
 */
import type { RecordedEvent } from '../../schema/events.ts';
import type {
  AttemptChange,
  OperatorEvent,
  RebasedWork,
  RunTask,
  TaskChanged,
} from '../../schema/operator-events.ts';
import { NO_USAGE } from '../../schema/usage.ts';
import { hasKey, valueAt, withKey } from '../../system/persistent.ts';
import { NO_RUN, type OperatorState, type TaskAttempt, type TaskState } from './operator-state.ts';

/** The types of events that it looks at: a reader of the journal needs no others. */
export const OPERATOR_EVENTS: readonly OperatorEvent['type'][] = [
  'operator.started',
  'operator.resumed',
  'operator.tasks_added',
  'operator.changed',
  'operator.base_checked',
  'operator.integrated',
  'operator.landed',
  'operator.asked',
  'task.changed',
  'task.marked',
];

const MOST_ASKED = 50;

export function foldOperator(events: Iterable<Pick<RecordedEvent, 'time' | 'event'>>): OperatorState {
  let state = NO_RUN;
  for (const recorded of events) state = applyOperatorEvent(state, recorded);
  return state;
}

/** The same value for an event that says nothing about the run. */
export function applyOperatorEvent(
  state: OperatorState,
  { event, time }: Pick<RecordedEvent, 'time' | 'event'>,
): OperatorState {
  switch (event.type) {
    case 'operator.started':
      return withTasks({ ...NO_RUN, run: event.run, startedAt: time, at: time }, event.tasks, time);
    case 'operator.resumed':
      return {
        ...state,
        ...(state.run !== null && { run: { ...state.run, ...event.change } }),
        ...{ status: 'running', cause: null, message: null, resumed: state.resumed + 1, at: time },
      };
    case 'operator.tasks_added':
      return withTasks({ ...state, at: time }, event.tasks, time);
    case 'operator.changed': {
      const { status, cause, message } = event;
      return { ...state, status, cause, message, at: time };
    }
    case 'operator.base_checked':
      return { ...state, baseCheck: event.check, at: time };
    case 'operator.integrated':
      return withRebased({ ...state, integrated: event.commit, at: time }, event.rebased);
    case 'operator.landed': {
      const { type: _, ...landing } = event;
      if (event.state !== 'moved') return { ...state, landing, at: time };
      const landed = event.after ?? event.commit;
      return { ...state, landing, landed, ground: landed, at: time };
    }
    case 'operator.asked': {
      const { by, action, refused } = event;
      return {
        ...state,
        asked: [...state.asked, { time, by, action, refused }].slice(-MOST_ASKED),
        at: time,
      };
    }
    case 'task.changed':
      return changed(state, event.task, time, (task) => changedTask(task, event, time));
    case 'task.marked': {
      const { written, why } = event;
      return changed(state, event.task, time, (task) => ({ ...task, marked: { written, why } }));
    }
    default:
      return state;
  }
}

/** A task that is there already stays as it is. */
function withTasks(state: OperatorState, tasks: readonly RunTask[], time: number): OperatorState {
  let all = state.tasks;
  const order = [...state.order];
  for (const task of tasks) {
    if (hasKey(all, task.id)) continue;
    all = withKey(all, task.id, newTask(task, time));
    order.push(task.id);
  }
  return { ...state, tasks: all, order };
}

function newTask(task: RunTask, time: number): TaskState {
  return {
    ...{ task, status: 'queued', cause: null, message: null, since: time, until: null, failures: 0 },
    ...{
      attempts: [],
      result: null,
      check: null,
      conflict: null,
      question: null,
      leftOut: null,
      person: null,
      marked: null,
    },
  };
}

function withRebased(state: OperatorState, rebased: RebasedWork | undefined): OperatorState {
  if (rebased === undefined) return state;
  let { tasks } = state;
  const change = (id: string, fields: Partial<TaskState>): void => {
    const task = valueAt(tasks, id);
    if (task !== undefined) tasks = withKey(tasks, id, { ...task, ...fields });
  };
  for (const [id, result] of Object.entries(rebased.results)) change(id, { result });
  for (const leftOut of rebased.left) change(leftOut.task, { leftOut, result: null });
  return { ...state, tasks, ground: rebased.onto, rebased: state.rebased + 1 };
}

function changed(
  state: OperatorState,
  id: string,
  time: number,
  change: (task: TaskState) => TaskState,
): OperatorState {
  const task = valueAt(state.tasks, id);
  return task === undefined ? state : { ...state, tasks: withKey(state.tasks, id, change(task)), at: time };
}

function changedTask(task: TaskState, event: TaskChanged, time: number): TaskState {
  const { type: _, task: __, attempt, ...fields } = event;
  const isNew = event.status !== task.status || event.cause !== task.cause;
  const attempts = isNew ? withWait(task, time) : task.attempts;
  return {
    ...task,
    // What was said about the last status is not true of the next.
    ...(isNew && { since: time, message: null, until: null, person: null, question: null, leftOut: null }),
    ...fields,
    attempts: attempt === undefined ? attempts : withAttempt(attempts, attempt, time),
  };
}

/** A person has answered: the wait is no work of its attempt. If others were at work meanwhile, it was none of the task. */
function withWait({ status, since, attempts }: TaskState, time: number): readonly TaskAttempt[] {
  const open = attempts.filter(({ endedAt }) => endedAt === null);
  if (status !== 'blocked' || open.length !== 1) return attempts;
  return attempts.map((attempt) =>
    open.includes(attempt) ? { ...attempt, waitedMs: attempt.waitedMs + Math.max(0, time - since) } : attempt,
  );
}

function withAttempt(attempts: readonly TaskAttempt[], change: AttemptChange, time: number): TaskAttempt[] {
  const known = attempts.find(({ number }) => number === change.number);
  const before = known ?? newAttempt(change.number, time);
  const after = { ...before, ...change };
  const isOver = after.state !== 'running';
  const next = { ...after, endedAt: isOver ? (before.endedAt ?? time) : null };
  return known === undefined
    ? [...attempts, next]
    : attempts.map((attempt) => (attempt === known ? next : attempt));
}

function newAttempt(number: number, time: number): TaskAttempt {
  return {
    ...{
      number,
      state: 'running',
      name: '',
      isolation: null,
      agent: null,
      branch: null,
      path: null,
      base: null,
      commit: null,
    },
    ...{
      files: [],
      cause: null,
      message: null,
      notes: [],
      costUsd: 0,
      usage: NO_USAGE,
      idle: null,
      reviews: [],
      silent: [],
      forgiven: 0,
      check: null,
      startedAt: time,
      waitedMs: 0,
      endedAt: null,
    },
  };
}
