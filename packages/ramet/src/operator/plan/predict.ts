/**
 * What a run would take (OP-7): order, critical path, time and cost for several widths, with and without a launch that is
 * planned for the prompt cache. Figures come from earlier runs, or are ranges from defaults.
 */
import type { TaskGraph } from '../schedule/task-graph.ts';
import { defaultUsd, FIRST_TOKEN_SECONDS, TASK_DEFAULTS } from './defaults.ts';
import type { Estimates } from './estimate.ts';
import { type Simulation, simulate, type TaskSpan } from './simulate.ts';

export interface FigureRange {
  low: number;
  likely: number;
  high: number;
}

/** The widths that a plan shows. */
const WIDTHS = [1, 2, 4, 8, 16] as const;
/** A width is worth it while it takes less than this share more than the fastest. */
const NEAR_FASTEST = 1.1;
/** Nine of ten normal values are within this many standard deviations. */
const NINE_OF_TEN = 1.645;
/** Two runs of one kind differ by about this much, also where their tasks do not. */
const LEAST_SPREAD = 0.05;

export interface WidthForecast {
  width: number;
  seconds: FigureRange;
  /** Null if the price of the model is not known. `planned`: with a launch planned for the cache. */
  usd: { planned: FigureRange | null; unplanned: FigureRange | null };
}

export interface TaskForecast {
  /** Tasks that could start together, if nothing else limited them. */
  order: readonly (readonly string[])[];
  criticalPath: string[];
  widths: WidthForecast[];
  recommended: number;
  /** Tasks that never start: they wait for deferred ones. */
  stuck: string[];
}

/** `estimates` from earlier runs; null where there are none. */
export function forecast(graph: TaskGraph, model: string, estimates: Estimates | null = null): TaskForecast {
  const unit = { work: 1, land: 0 };
  const free = simulate(graph, { width: Number.POSITIVE_INFINITY, spanOf: () => unit, fileGate: false });
  const spanOf = estimates === null ? () => unit : spansFrom(estimates);
  const timed = simulate(graph, { width: Number.POSITIVE_INFINITY, spanOf, fileGate: false });
  const ids = [...free.starts.keys()];
  const widths = WIDTHS.map((width) => {
    const together = Math.min(width, free.order[0]?.length ?? 0);
    return widthForecast(graph, { width, ids, together, model, estimates });
  });
  const fastest = Math.min(...widths.map(({ seconds }) => seconds.likely));
  const recommended = widths.find(({ seconds }) => seconds.likely <= fastest * NEAR_FASTEST)?.width ?? 1;
  const stuck = graph.nodes.filter(({ id }) => !free.starts.has(id)).map(({ id }) => id);
  return { order: free.order, criticalPath: criticalPath(graph, timed), widths, recommended, stuck };
}

interface ForecastQuestion {
  width: number;
  /** The tasks that can start. */
  ids: readonly string[];
  /** How many of them start at the beginning. */
  together: number;
  model: string;
  estimates: Estimates | null;
}

/** For any width. */
export function widthForecast(graph: TaskGraph, question: ForecastQuestion): WidthForecast {
  const { width, ids, together, model, estimates } = question;
  if (estimates !== null) return fromHistory(graph, width, ids, together, estimates);
  const { end } = simulate(graph, { width, spanOf: () => ({ work: 1, land: 0 }), fileGate: true });
  return {
    width,
    seconds: range((which) => end * TASK_DEFAULTS[which].seconds + (together > 1 ? FIRST_TOKEN_SECONDS : 0)),
    usd: {
      planned: knownRange((which) => defaultUsd(model, which, ids.length, Math.min(1, ids.length))),
      unplanned: knownRange((which) => defaultUsd(model, which, ids.length, together)),
    },
  };
}

function spansFrom(estimates: Estimates): (id: string) => TaskSpan {
  const spans = new Map<string, TaskSpan>();
  return (id) => {
    const known = spans.get(id);
    if (known !== undefined) return known;
    const { workMs, landMs } = estimates.of(id);
    const span = { work: workMs, land: landMs };
    spans.set(id, span);
    return span;
  };
}

function fromHistory(
  graph: TaskGraph,
  width: number,
  ids: readonly string[],
  together: number,
  estimates: Estimates,
): WidthForecast {
  const { end } = simulate(graph, { width, spanOf: spansFrom(estimates), fileGate: true });
  const seconds = (estimates.headMs + end + estimates.tailMs) / 1000;
  const inTurn = Math.max(1, ids.length / Math.min(width, Math.max(1, ids.length)));
  const writers = estimates.writers(ids.length);
  const around = (usd: number | null): FigureRange | null =>
    usd === null ? null : spreadRange(usd, estimates.spread.cost, ids.length);
  return {
    width,
    seconds: spreadRange(seconds, estimates.spread.time, inTurn),
    usd: {
      planned: around(historyUsd(ids, writers, estimates)),
      unplanned: around(historyUsd(ids, Math.max(writers, together), estimates)),
    },
  };
}

function historyUsd(ids: readonly string[], writers: number, estimates: Estimates): number | null {
  const { otherUsd } = estimates;
  let sum: number | null = otherUsd === null ? null : otherUsd * ids.length;
  let writing = 0;
  for (const id of ids) {
    const { usd, writingUsd } = estimates.of(id);
    sum = sum === null || usd === null ? null : sum + usd;
    writing = writingUsd;
  }
  return sum === null ? null : sum + writing * writers;
}

/** A sum of `count` values that differ by `spread` differs by less. */
function spreadRange(likely: number, spread: number, count: number): FigureRange {
  const share = Math.max(LEAST_SPREAD, (NINE_OF_TEN * spread) / Math.sqrt(Math.max(1, count)));
  return { low: likely * Math.max(0, 1 - share), likely, high: likely * (1 + share) };
}

/** The longest chain: from what ends last, back to what it waited for. */
function criticalPath({ nodes }: TaskGraph, { starts, ends }: Simulation): string[] {
  const started = nodes.filter(({ id }) => starts.has(id));
  const byId = new Map(started.map((node) => [node.id, node]));
  const latest = (ids: readonly string[]): string | undefined => {
    let found: string | undefined;
    for (const id of ids)
      if (ends.has(id) && (found === undefined || (ends.get(id) ?? 0) > (ends.get(found) ?? 0))) found = id;
    return found;
  };
  const path: string[] = [];
  for (let id = latest(started.map((node) => node.id)); id !== undefined; ) {
    path.unshift(id);
    const node = byId.get(id);
    const barrier = node?.barrier ?? null;
    if (starts.get(id) === 0) break;
    // What its phase waited for counts if nothing of its own ended last.
    const earlier = started.filter(
      (one) => barrier !== null && one.barrier !== null && one.barrier < barrier,
    );
    const before = latest(earlier.map((one) => one.id));
    id = latest([latest(node?.waits ?? []), before].filter((one) => one !== undefined));
  }
  return path;
}

function range(value: (which: keyof FigureRange) => number): FigureRange {
  return { low: value('low'), likely: value('likely'), high: value('high') };
}

function knownRange(value: (which: keyof FigureRange) => number | null): FigureRange | null {
  const [low, likely, high] = [value('low'), value('likely'), value('high')];
  return low === null || likely === null || high === null ? null : { low, likely, high };
}
