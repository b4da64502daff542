/** What a run of a task list would take, for people and for programs. */
import type { Estimates } from '../operator/plan/estimate.ts';
import type { FigureRange, TaskForecast } from '../operator/plan/predict.ts';
import { dollars, duration, excerpt, table } from './text/format.ts';

const LIST_LENGTH = 100;
const MOST_STEPS = 20;

interface PlanView {
  model: string;
  left: number;
  forecast: TaskForecast;
  /** Null if the figures are defaults. */
  history: Pick<Estimates, 'runs' | 'tasks' | 'known'> | null;
}

export function taskPlanObject({ model, left, forecast, history }: PlanView): Record<string, unknown> {
  const { order, criticalPath, widths, recommended, stuck } = forecast;
  return {
    model,
    tasks: left,
    order,
    critical_path: criticalPath,
    widths: widths.map(({ width, seconds, usd }) => ({
      width,
      seconds,
      usd: { cache_planned: usd.planned, not_planned: usd.unplanned },
    })),
    recommended,
    stuck,
    history: history !== null,
    ...(history !== null && {
      history_runs: history.runs,
      history_tasks: history.tasks,
      history_same_tasks: history.known,
    }),
  };
}

export function taskPlanText({ model, left, forecast, history }: PlanView): string {
  const { order, criticalPath, widths, recommended, stuck } = forecast;
  const steps = order
    .slice(0, MOST_STEPS)
    .map((ids, step) => [String(step + 1), excerpt(ids.join(', '), LIST_LENGTH)]);
  const more = order.length > MOST_STEPS ? `${order.length - MOST_STEPS} more steps\n` : '';
  const rows = widths.map(({ width, seconds, usd }) => [
    `${width}${width === recommended ? ' *' : ''}`,
    ...[timeText(seconds, history !== null), moneyText(usd.planned, history !== null)],
    moneyText(usd.unplanned, history !== null),
  ]);
  return [
    table([['STEP', 'TASKS THAT CAN START'], ...steps]) + more,
    `critical path: ${excerpt(criticalPath.join(' → '), LIST_LENGTH)} (${criticalPath.length} of ${left} tasks)\n`,
    table([['AT ONCE', 'TIME', 'COST, CACHE PLANNED', 'NOT PLANNED'], ...rows]),
    `* recommended: ${recommended} at once${recommended === widths.at(-1)?.width ? ', the most that was tried' : '; more would save less than a tenth of the time'}\n`,
    stuck.length === 0
      ? ''
      : `never start, as they wait for deferred tasks: ${excerpt(stuck.join(', '), LIST_LENGTH)}\n`,
    originText(model, history),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function originText(model: string, history: PlanView['history']): string {
  const prices = excerpt(model, LIST_LENGTH);
  if (history === null)
    return `There is no history yet: these are ranges from defaults for ${prices}, not measurements.\n`;
  const { runs, tasks, known } = history;
  const same = known === 0 ? '' : `; ${known} of these tasks ${known === 1 ? 'was' : 'were'} done before`;
  return `From ${counted(tasks, 'task')} in ${counted(runs, 'earlier run')}, at the prices of ${prices}${same}.\n`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function moneyText(range: FigureRange | null, measured: boolean): string {
  if (range === null) return 'unknown';
  return measured ? around(range, dollars) : shownRange(range, dollars);
}

function timeText(range: FigureRange, measured: boolean): string {
  return measured ? around(range, exactSpan) : shownRange(range, span);
}

/** `12.3 s ± 9%`. */
function around({ likely, high }: FigureRange, shown: (value: number) => string): string {
  return likely === 0 ? shown(0) : `${shown(likely)} ± ${Math.round((high / likely - 1) * 100)}%`;
}

function shownRange({ low, high }: FigureRange, shown: (value: number) => string): string {
  return `${shown(low)} to ${shown(high)}`;
}

function exactSpan(seconds: number): string {
  if (seconds >= 3_600) return span(seconds);
  const whole = Math.round(seconds);
  return seconds < 60 ? duration(seconds * 1000) : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** Rounded to minutes: the figures are no finer than that. */
function span(seconds: number): string {
  const minutes = Math.max(1, Math.round(seconds / 60));
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return `${Math.floor(hours / 24)} d ${hours % 24} h`;
  return hours === 0 ? `${minutes} min` : `${hours} h ${minutes % 60} min`;
}
