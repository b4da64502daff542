/** The figures of an operator's run that all its views share: counts, spend, cache, and what each status looks like. */
import { higherBudget } from '../../operator/run/decisions.ts';
import { operateCommand, resumeCommand } from '../../operator/run/operate-command.ts';
import {
  isTaskEnded,
  type OperatorState,
  type TaskState,
  taskOf,
  tasksOf,
} from '../../operator/run/operator-state.ts';
import { TASK_STATUSES, type TaskStatus } from '../../schema/operator-events.ts';
import { untilText } from '../../schema/until-text.ts';
import { addUsage, NO_USAGE, type Usage } from '../../schema/usage.ts';
import { visibleLine } from '../../system/text/visible-text.ts';
import { atLeastDollars, dollars, excerpt } from '../text/format.ts';

/** How a line is coloured where colours are shown. */
export type LineTone = 'good' | 'bad' | 'busy' | 'care' | 'dim' | 'plain';

const LOOKS: Readonly<Record<TaskStatus, readonly [mark: string, tone: LineTone]>> = {
  queued: ['·', 'dim'],
  ready: ['○', 'plain'],
  running: ['●', 'busy'],
  waiting: ['◌', 'care'],
  blocked: ['!', 'care'],
  verifying: ['◐', 'busy'],
  merging: ['◑', 'busy'],
  done: ['✓', 'good'],
  failed: ['✗', 'bad'],
  frozen: ['✗', 'bad'],
  timed_out: ['✗', 'bad'],
  interrupted: ['■', 'care'],
  skipped: ['-', 'dim'],
  cancelled: ['-', 'dim'],
};

export function markOf({ status }: Pick<TaskState, 'status'>): string {
  return LOOKS[status][0];
}

export function toneOf({ status }: Pick<TaskState, 'status'>): LineTone {
  return LOOKS[status][1];
}

/** Work that is under way now, and ends by itself. */
export function isUnderWay({ status }: Pick<TaskState, 'status'>): boolean {
  return status === 'running' || status === 'verifying' || status === 'merging';
}

/** Not done, and nothing changes that without a person: a command is in `person` where one helps. */
export function needsPerson(task: TaskState): boolean {
  if (task.person !== null || task.question !== null) return true;
  return task.status === 'blocked' && task.cause !== 'dependency';
}

export interface RunSummary {
  total: number;
  done: number;
  /** In the order in which statuses are told. */
  counts: readonly (readonly [TaskStatus, number])[];
  /** Null when a part of it is unknown. */
  costUsd: number | null;
  /** What is known of it. */
  atLeastUsd: number;
  usage: Usage;
  people: readonly TaskState[];
}

export function summaryOf(state: OperatorState): RunSummary {
  const tasks = tasksOf(state);
  const attempts = tasks.flatMap((task) => task.attempts);
  const bills = attempts.flatMap((attempt) => (attempt.idle === null ? [attempt] : [attempt, attempt.idle]));
  const byStatus = Map.groupBy(tasks, ({ status }) => status);
  const counts = TOLD.flatMap((status) => {
    const count = byStatus.get(status)?.length ?? 0;
    return count === 0 ? [] : [[status, count] as const];
  });
  const atLeastUsd = bills.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
  return {
    ...{ total: tasks.length, done: byStatus.get('done')?.length ?? 0, counts },
    costUsd: bills.some(({ costUsd }) => costUsd === null) ? null : atLeastUsd,
    atLeastUsd,
    usage: bills.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE),
    people: tasks.filter(needsPerson),
  };
}

const TOLD: readonly TaskStatus[] = [
  'done',
  ...TASK_STATUSES.filter((status) => status !== 'done' && status !== 'queued'),
  'queued',
];

/** `3 done, 1 failed, 2 queued`. */
export function countsText({ counts }: Pick<RunSummary, 'counts'>): string {
  return counts.map(([status, count]) => `${count} ${statusWord(status)}`).join(', ');
}

/** `$0.42 of $5.00`; a sum of which a part is unknown ends in `+`. */
export function spendText(
  { costUsd, atLeastUsd }: Pick<RunSummary, 'costUsd' | 'atLeastUsd'>,
  budgetUsd: number | undefined,
): string {
  const spent = atLeastDollars(costUsd, atLeastUsd);
  return budgetUsd === undefined ? spent : `${spent} of ${dollars(budgetUsd)}`;
}

function statusWord(status: TaskStatus): string {
  return status.replace('_', ' ');
}

/** Its agent waits for its provider: a limit, or an outage. */
export function isAway({ status, message }: Pick<TaskState, 'status' | 'message'>): boolean {
  return status === 'running' && message?.startsWith('waiting: ') === true;
}

/** `failed: check`, `waiting: retry until 16:40 (in 2 min)`; what an agent at work waits for is in the message. */
export function statusText({ status, cause, until, message }: TaskState, now: number): string {
  if (isAway({ status, message }) && message !== null) {
    if (until === null) return plainLine(message, 60);
    if (until > now) return `${message.replace(/ until .*/, '')} until ${untilText(until, now)}`;
  }
  const time = until === null || until <= now ? '' : ` until ${untilText(until, now)}`;
  const because = cause === null ? '' : `: ${excerpt(cause, 40).replaceAll('_', ' ')}`;
  return `${statusWord(status)}${because}${time}`;
}

/** Why the run is what it is, on one line; empty where nobody said. */
export function whyText({ cause, message }: Pick<OperatorState, 'cause' | 'message'>): string {
  const parts = cause !== null && message?.startsWith(cause) ? [message] : [cause, message];
  return parts.flatMap((part) => (part === null ? [] : [plainLine(part, LONGEST_REASON)])).join(': ');
}

const LONGEST_REASON = 300;

/** `waits for T002 and T003`: what must end before the run can. */
export function waitingFor(state: OperatorState): string {
  const ids = tasksOf(state)
    .filter(isUnderWay)
    .map(({ task: { id } }) => plainLine(id, 40));
  if (ids.length === 0 && state.landing?.state === 'intended')
    return `waits until the result is on ${plainLine(state.run?.target ?? 'the target', 80)}`;
  if (ids.length === 0) return 'waits for nothing';
  const shown = ids.slice(0, 5).join(', ');
  return `waits for ${ids.length > 5 ? `${shown} and ${ids.length - 5} more` : shown}`;
}

/** Of a run that starts nothing new: what it waits for, and what a person can do. */
export function holdText(state: OperatorState): string {
  const { what, next } = holdOf(state);
  return `${what}; ${next}`;
}

export function holdOf(state: OperatorState): { what: string; next: string } {
  const { status, cause } = state;
  const isStopping = status === 'draining';
  const word = isStopping ? 'stopping' : status;
  const presses = cause === 'interrupted' ? 'again' : 'twice';
  const next = isStopping
    ? `Ctrl-C ${presses} stops at once`
    : `${operateCommand(state.run, 'resume')} continues it`;
  return { what: `${word}: nothing new starts; ${waitingFor(state)}`, next };
}

/** How a run is continued that nobody runs: with more money, if it had too little. */
export function resumeText(state: OperatorState): string {
  return resumeCommand(state.run, higherBudget(state));
}

/** Ids of the tasks that this one still waits for. */
export function openWaits(task: TaskState, state: OperatorState): string[] {
  if (isTaskEnded(task)) return [];
  return task.task.waits.filter((id) => {
    const other = taskOf(state, id);
    return other !== undefined && other.status !== 'done';
  });
}

/** A title or message on one line: anybody may have written it, so controls are shown and never sent. */
export function plainLine(text: string, length: number): string {
  const line = visibleLine(text);
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

/** Of a run that is over the clocks stand still, also where a task waits for an answer. */
export function clockOf({ status, at }: Pick<OperatorState, 'status' | 'at'>, now: number): number {
  return status === 'ended' ? at : now;
}

/** How long it was worked on: what lies between two tries does not count, and tries at one time count once. */
export function timeOf(
  { attempts, status, since }: Pick<TaskState, 'attempts' | 'status' | 'since'>,
  now: number,
): number | null {
  if (attempts.length === 0) return null;
  let [sum, covered] = [0, Number.NEGATIVE_INFINITY];
  const isAlone = attempts.filter(({ endedAt }) => endedAt === null).length === 1;
  for (const { startedAt, endedAt, waitedMs } of attempts) {
    const end = endedAt ?? (status === 'blocked' && isAlone ? since : now);
    sum += Math.max(0, end - Math.max(startedAt, covered)) - waitedMs;
    covered = Math.max(covered, end);
  }
  return Math.max(0, sum);
}

/** Everything is done or was skipped by a person, and the result is where it belongs. */
export function isRunWhole(state: OperatorState): boolean {
  return hasLanded(state) && tasksOf(state).every(({ status }) => status === 'done' || status === 'skipped');
}

/** Whether nothing is left that should be on the target. */
export function hasLanded(state: OperatorState): boolean {
  const { run, landing, integrated } = state;
  if (landing === null) return integrated === null || integrated === run?.base;
  return landing.state === 'moved' || landing.state === 'kept' || isEmptied(state);
}

/** Nothing of the result is left: the target has moved, and no task fits to it any more. */
export function isEmptied({ landing, integrated, ground, rebased }: OperatorState): boolean {
  return landing?.state === 'failed' && rebased > 0 && integrated === ground;
}
