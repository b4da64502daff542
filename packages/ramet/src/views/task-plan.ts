/** What a run of a task list would take, for people and for programs. */
import type { FigureRange, TaskForecast } from '../operator/plan/predict.ts';
import { dollars, excerpt, table } from './text/format.ts';

const LIST_LENGTH = 100;
const MOST_STEPS = 20;

interface PlanView {
  model: string;
  left: number;
  forecast: TaskForecast;
}

export function taskPlanObject({ model, left, forecast }: PlanView): Record<string, unknown> {
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
    history: false,
  };
}

export function taskPlanText({ model, left, forecast }: PlanView): string {
  const { order, criticalPath, widths, recommended, stuck } = forecast;
  const steps = order
    .slice(0, MOST_STEPS)
    .map((ids, step) => [String(step + 1), excerpt(ids.join(', '), LIST_LENGTH)]);
  const more = order.length > MOST_STEPS ? `${order.length - MOST_STEPS} more steps\n` : '';
  const rows = widths.map(({ width, seconds, usd }) => [
    `${width}${width === recommended ? ' *' : ''}`,
    ...[shownRange(seconds, span), moneyRange(usd.planned), moneyRange(usd.unplanned)],
  ]);
  return [
    table([['STEP', 'TASKS THAT CAN START'], ...steps]) + more,
    `critical path: ${excerpt(criticalPath.join(' → '), LIST_LENGTH)} (${criticalPath.length} of ${left} tasks)\n`,
    table([['AT ONCE', 'TIME', 'COST, CACHE PLANNED', 'NOT PLANNED'], ...rows]),
    `* recommended: ${recommended} at once${recommended === widths.at(-1)?.width ? ', the most that was tried' : '; more would save less than a tenth of the time'}\n`,
    stuck.length === 0
      ? ''
      : `never start, as they wait for deferred tasks: ${excerpt(stuck.join(', '), LIST_LENGTH)}\n`,
    `There is no history yet: these are ranges from defaults for ${excerpt(model, LIST_LENGTH)}, not measurements.\n`,
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function moneyRange(range: FigureRange | null): string {
  return range === null ? 'unknown' : shownRange(range, dollars);
}

function shownRange({ low, high }: FigureRange, shown: (value: number) => string): string {
  return `${shown(low)} to ${shown(high)}`;
}

/** Rounded to minutes: the figures are no finer than that. */
function span(seconds: number): string {
  const minutes = Math.max(1, Math.round(seconds / 60));
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return `${Math.floor(hours / 24)} d ${hours % 24} h`;
  return hours === 0 ? `${minutes} min` : `${hours} h ${minutes % 60} min`;
}
