/** The tasks of a run as rows of a block: as many as there is room for, those that matter now first. Pure. */
import {
  type OperatorState,
  type TaskAttempt,
  type TaskState,
  tasksOf,
} from '../../operator/run/operator-state.ts';
import { addCost } from '../../schema/usage.ts';
import { displayWidth, dollars, duration, fitText } from '../text/format.ts';
import {
  countsText,
  isAway,
  isUnderWay,
  type LineTone,
  markOf,
  needsPerson,
  openWaits,
  plainLine,
  statusText,
  timeOf,
  toneOf,
} from './run-summary.ts';

/** What only the running process knows: the journal's view of an attempt has no cost before it ends. */
export interface LiveFigures {
  now: number;
  /** By the agent's id: what it does, and what it has cost so far. */
  agents: ReadonlyMap<string, { doing: string; costUsd: number | null }>;
}

export interface ProgressRow {
  text: string;
  tone: LineTone;
}

export interface BlockSize {
  columns: number;
  rows: number;
}

const NARROW = 60;
const ROOMY = 100;
const LONGEST = 200;
const MOST_WAITS = 4;

export function taskRows(
  state: OperatorState,
  live: LiveFigures,
  { columns, rows }: BlockSize,
): ProgressRow[] {
  const tasks = tasksOf(state);
  const shown = tasks.length <= rows ? tasks : worthShowing(tasks, rows - 1);
  const lines = shown.map((task) => ({
    name: `${markOf(task)} ${plainLine(task.task.id, 20)} `,
    title: plainLine(task.task.title, LONGEST),
    doing: doingOf(task, state, { live, columns }),
    figures: figuresOf(task, live, columns < NARROW),
    tone: toneOf(task),
  }));
  const aligned = alignRows(lines, columns);
  if (shown.length === tasks.length || rows <= 0) return aligned;
  const hidden = summaryCounts(tasks.filter((task) => !shown.includes(task)));
  return [...aligned, { text: `  and ${hidden}`, tone: 'dim' }];
}

function summaryCounts(tasks: readonly TaskState[]): string {
  const counts = Map.groupBy(tasks, ({ status }) => status);
  return countsText({ counts: Array.from(counts, ([status, { length }]) => [status, length] as const) });
}

/** What needs a person first, then what is under way or failed, then what comes next; in the order of the file. */
function worthShowing(tasks: readonly TaskState[], most: number): TaskState[] {
  const ranked = tasks.toSorted(
    (one, other) => rankOf(one) - rankOf(other) || (one.status === 'done' ? other.since - one.since : 0),
  );
  const chosen = new Set(ranked.slice(0, Math.max(0, most)));
  return tasks.filter((task) => chosen.has(task));
}

function rankOf(task: TaskState): number {
  if (needsPerson(task)) return 0;
  if (isUnderWay(task)) return 1;
  if (task.status === 'done') return 4;
  return task.status === 'queued' || task.status === 'skipped' || task.status === 'cancelled' ? 5 : 3;
}

function doingOf(
  task: TaskState,
  state: OperatorState,
  { live, columns }: { live: LiveFigures; columns: number },
): string {
  const waits = openWaits(task, state);
  if (task.status === 'queued' && waits.length > 0) {
    const shown = waits.slice(0, MOST_WAITS).map((id) => plainLine(id, 20));
    return `after ${shown.join(', ')}${waits.length > MOST_WAITS ? ', ...' : ''}`;
  }
  const agents = liveAgents(task, live).map(({ doing }) => doing);
  const tries = task.attempts.length > 1 ? ` (try ${task.attempts.length})` : '';
  const doing =
    task.status === 'running' && !isAway(task) && agents.some(Boolean)
      ? `: ${plainLine(agents.join('; '), LONGEST)}`
      : '';
  const waiting =
    task.status === 'verifying' && task.message !== null ? `: ${plainLine(task.message, LONGEST)}` : '';
  const status = statusText(task, live.now);
  // A clock is beside most screens: what is left of a wait gives way to the rest of the row.
  return `${columns < ROOMY ? status.replace(/ \(in [^)]*\)$/, '') : status}${tries}${doing}${waiting}`;
}

/** What is known of the agents that work on it now. */
export function liveAgents(
  { attempts }: TaskState,
  { agents }: LiveFigures,
): { doing: string; costUsd: number | null }[] {
  return attempts.flatMap(({ agent, endedAt }) =>
    endedAt === null && agent !== null ? (agents.get(agent) ?? []) : [],
  );
}

export function costText(
  task: { attempts: readonly Pick<TaskAttempt, 'costUsd'>[] },
  live: readonly Pick<TaskAttempt, 'costUsd'>[] = [],
): string {
  const costs = [...task.attempts, ...live].map(({ costUsd }) => costUsd);
  return dollars(costs.reduce((sum, one) => addCost(sum, one), 0));
}

function figuresOf(task: TaskState, live: LiveFigures, narrow: boolean): string {
  const time = timeOf(task, live.now);
  if (time === null) return '';
  return narrow ? duration(time) : `${duration(time)}  ${costText(task, liveAgents(task, live)).padStart(7)}`;
}

interface RowParts {
  name: string;
  title: string;
  doing: string;
  figures: string;
  tone: LineTone;
}

/** Title and status share what names and figures leave; either takes what the other does not need. */
function alignRows(lines: readonly RowParts[], columns: number): ProgressRow[] {
  const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(displayWidth));
  const name = widest(lines.map((line) => line.name));
  const figures = widest(lines.map((line) => line.figures));
  const free = Math.max(0, columns - name - figures - 4);
  const doing = widest(lines.map((line) => line.doing));
  const title = Math.min(
    widest(lines.map((line) => line.title)),
    Math.max(Math.floor(free / 3), free - doing),
  );
  return lines.map((line) => {
    const left = `${padded(line.name, name)}${padded(fitText(line.title, title), title)}`;
    const right = padded(fitText(line.doing, free - title), Math.min(doing, free - title));
    return { text: `${left}  ${right}  ${line.figures.padStart(figures)}`.trimEnd(), tone: line.tone };
  });
}

function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - displayWidth(text)));
}
