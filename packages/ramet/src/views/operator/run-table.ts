/** A run of the operator as a table with what a person must know below it: at the end, and for `ramet operate status`. */
import { resumeCommand } from '../../operator/run/operate-command.ts';
import {
  lastAttempt,
  type OperatorState,
  type TaskState,
  tasksOf,
} from '../../operator/run/operator-state.ts';
import { hitRate } from '../../schema/usage.ts';
import { withKey } from '../../system/persistent.ts';
import { displayWidth, duration, fitText, percent, table } from '../text/format.ts';
import { linesOf, type StepLine, troubleOf } from './person-step.ts';
import {
  clockOf,
  countsText,
  holdText,
  isEmptied,
  isUnderWay,
  plainLine,
  type RunSummary,
  spendText,
  statusText,
  summaryOf,
  timeOf,
  whyText,
} from './run-summary.ts';
import { costText } from './task-rows.ts';

const COMMIT = 10;
const LONGEST = 300;
/** A command is of no use when it is cut. */
const LONGEST_LANDING = 4_000;
const TITLE = 60;
const LEAST_TITLE = 8;

/** `columns` is the width of the screen, null without one. */
export function runTable(state: OperatorState, columns: number | null, now: number): string {
  const clock = clockOf(state, now);
  const rows = tasksOf(state).map((task) => rowOf(task, clock));
  const whole = table([HEADINGS, ...rows.map(({ cells, title }) => [...cells, title])]);
  if (columns === null || fits(whole, columns)) return whole;
  const narrow = table([narrowCells(HEADINGS), ...rows.map(({ cells }) => narrowCells(cells))]).split('\n');
  const left = columns - 2 - Math.max(...narrow.map(displayWidth));
  // A title that has no room in the row stands below it.
  const [headings = '', ...lines] = narrow;
  const shown = rows.flatMap(({ title }, index) => [lines[index] ?? '', `  ${title}`]);
  const beside = rows.map(({ title }, index) => `${padded(lines[index] ?? '', narrow)}  ${title}`);
  return (left < LEAST_TITLE ? [headings, ...shown] : [`${padded(headings, narrow)}  TITLE`, ...beside])
    .map((line) => `${fitText(line.trimEnd(), columns)}\n`)
    .join('');
}

const HEADINGS = ['TASK', 'STATUS', 'COMMIT', 'FILES', 'TRIES', 'TIME', 'COST', 'TITLE'];

/** Without commit, files and tries. */
function narrowCells(cells: readonly string[]): string[] {
  return [0, 1, 5, 6].map((column) => cells[column] ?? '');
}

function rowOf(task: TaskState, now: number): { cells: string[]; title: string } {
  const time = timeOf(task, now);
  const last = lastAttempt(task);
  const cells = [
    plainLine(task.task.id, 24),
    statusText(task, now),
    (task.result ?? '-').slice(0, COMMIT),
    last === undefined ? '-' : String(filesOf(task).length),
    String(task.attempts.length),
    time === null ? '-' : duration(time),
    task.attempts.length === 0 ? '-' : costText(task),
  ];
  return { cells, title: plainLine(task.task.title, TITLE) };
}

/** What the attempt that counts has changed: the last one with a commit. */
export function filesOf({ attempts }: TaskState): readonly string[] {
  return attempts.findLast(({ files }) => files.length > 0)?.files ?? [];
}

function fits(text: string, columns: number): boolean {
  return text.split('\n').every((line) => displayWidth(line) <= columns);
}

function padded(line: string, lines: readonly string[]): string {
  return line + ' '.repeat(Math.max(0, Math.max(...lines.map(displayWidth)) - displayWidth(line)));
}

/**
 * What the table leaves open, one line each: why tasks are not done and what to do, where the result is, the sum. Nobody
 * runs one that is not live, whatever its last event says.
 */
const MOST_MARKS = 3;

export function runNotes(state: OperatorState, now: number, isLive: boolean): string[] {
  const summary = summaryOf(state);
  const troubles = tasksOf(state).flatMap((task) => {
    const [first, ...more] = troubleOf(task, state, LONGEST);
    return first === undefined ? [] : [`${plainLine(task.task.id, 40)}: ${first}`, ...more];
  });
  return [
    ...troubles,
    ...tasksOf(state).flatMap(resolvedLines),
    ...markLines(state),
    ...landingLines(state),
    ...stateLine(state, isLive),
    sumLine(state, summary, clockOf(state, now)),
  ];
}

/** A conflict that an agent has resolved is worth a look. */
function resolvedLines({ task, status, conflict }: TaskState): string[] {
  if (status !== 'done') return [];
  return (conflict?.resolvedBy ?? []).map(({ agent, session, costUsd }) => {
    const cost = costText({ attempts: [{ costUsd }] });
    const files = plainLine(conflict?.files.join(', ') ?? '', 100);
    return `${plainLine(task.id, 40)}: agent ${agent} resolved its conflict in ${files} for ${cost}: ramet show ${session}`;
  });
}

/** Why a task that is done has no mark in its file. */
function markLines(state: OperatorState): string[] {
  const lines = tasksOf(state).flatMap(({ task, marked }) => {
    const why = marked?.written === false ? marked.why : null;
    return why === null
      ? []
      : [`${plainLine(task.id, 40)}: not marked in its file: ${plainLine(why, LONGEST)}`];
  });
  const more = lines.length - MOST_MARKS;
  return more <= 0
    ? lines
    : [...lines.slice(0, MOST_MARKS), `${more} more tasks are not marked in their file`];
}

/** `3 of 5 tasks done (1 failed, 1 blocked); $0.42 of $5.00; cache 83%; 3 min`. */
function sumLine({ run, startedAt }: OperatorState, summary: RunSummary, until: number): string {
  const others = countsText({ counts: summary.counts.filter(([status]) => status !== 'done') });
  const rate = hitRate(summary.usage);
  return [
    `${summary.done} of ${summary.total} tasks done${others === '' ? '' : ` (${others})`}`,
    spendText(summary, run?.budget.usd),
    ...(rate === null ? [] : [`cache ${percent(rate)}`]),
    duration(until - startedAt),
  ].join('; ');
}

/** Where the result is. A target that has moved is told from where it was when the run began, or from `from`. */
export function landingLines(state: OperatorState, from: string | null = state.run?.base ?? null): string[] {
  const { run, landing, integrated } = state;
  const target = plainLine(run?.target ?? 'the target', 60);
  if (landing === null) return notLanded(target, state);
  const { state: how, commit, after } = landing;
  const said = landingSteps(state).map(shownLine);
  const place = after ?? commit;
  // A resume may find that a killed process had moved it.
  if (how === 'moved' && place === from) return [`${target} is at ${short(place)}`, ...said];
  if (how === 'moved') return [`${target}: ${short(from)} to ${short(place)}`, ...said];
  if (how === 'intended') return [`${target} is about to move to ${short(commit)}`, ...said];
  // What waited for the target before is in it too.
  const own =
    integrated === null || integrated === commit
      ? ''
      : `; the work of this run (${short(integrated)}) is in it`;
  if (how === 'kept')
    return [`the result is ready as ${short(commit)} and is not on ${target} yet${own}`, ...said];
  if (isEmptied(state)) return [`${target} has moved, and nothing of the result fits to it`];
  return [`nothing landed on ${target}; the result is ${short(commit)}`, ...said];
}

/** What is said about a landing. One that has failed comes with a command: the run tries again when it is resumed. */
export function landingSteps(state: OperatorState): StepLine[] {
  const { landing, run, status } = state;
  const said = landing?.message ? linesOf(landing.message) : [];
  const isOver = landing?.state === 'failed' && status === 'ended';
  if (!isOver || said.some(({ isCommand }) => isCommand)) return said;
  return [
    ...[...said, { text: 'to try to land it again:', isCommand: false }],
    { text: resumeCommand(run), isCommand: true },
  ];
}

/** Commands stand a little to the right. */
function shownLine({ text, isCommand }: StepLine): string {
  return `${isCommand ? '  ' : ''}${plainLine(text, LONGEST_LANDING)}`;
}

function notLanded(
  target: string,
  { run, status, cause, integrated }: Pick<OperatorState, 'run' | 'status' | 'cause' | 'integrated'>,
): string[] {
  if (integrated === null || integrated === run?.base) return [`${target} is unchanged`];
  if (status !== 'ended') return [];
  const policy = plainLine(run?.policy ?? '', 40);
  const why = cause === 'interrupted' ? 'the run was interrupted before' : `the policy ${policy} is not met`;
  return [`nothing has landed on ${target}: ${why}; the result is ${short(integrated)}`];
}

function stateLine(state: OperatorState, isLive: boolean): string[] {
  const why = whyText(state);
  if (!isLive || state.status === 'ended') return why === '' ? [] : [`stopped: ${why}`];
  return state.status === 'running' ? [] : [`${holdText(state)}${why === '' ? '' : ` (${why})`}`];
}

function short(commit: string | null | undefined): string {
  return commit?.slice(0, COMMIT) ?? 'unknown';
}

/** A run that no process runs any more: what its last events call under way is interrupted, and was worked on until then. */
export function leftRun(state: OperatorState): OperatorState {
  const left = tasksOf(state).filter(isUnderWay);
  const tasks = left.reduce(
    (all, task) => withKey(all, task.task.id, interruptedTask(task, state.at)),
    state.tasks,
  );
  if (state.status === 'ended') return { ...state, tasks };
  return { ...state, tasks, status: 'ended', cause: state.cause ?? 'interrupted' };
}

function interruptedTask(task: TaskState, at: number): TaskState {
  return {
    ...task,
    ...{ status: 'interrupted', cause: null, message: null, until: null },
    attempts: task.attempts.map((attempt) => ({ ...attempt, endedAt: attempt.endedAt ?? at })),
  };
}
