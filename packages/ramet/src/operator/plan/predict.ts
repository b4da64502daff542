/**
 * What a run would take (OP-7): order, critical path, time and cost for several widths, with and without a launch that is
 * planned for the prompt cache. There is no history yet, so every figure is a range from defaults.
 */
import { costOf } from '../../model/prices.ts';
import { addCost, NO_USAGE } from '../../schema/usage.ts';
import { ReadyQueue } from '../schedule/ready-queue.ts';
import type { TaskGraph } from '../schedule/task-graph.ts';

export interface FigureRange {
  low: number;
  likely: number;
  high: number;
}

type Case = keyof FigureRange;

/** What one task takes when nothing is known about it. */
interface TaskDefaults {
  seconds: number;
  requests: number;
}

const DEFAULTS: Readonly<Record<Case, TaskDefaults>> = {
  low: { seconds: 120, requests: 8 },
  likely: { seconds: 360, requests: 20 },
  high: { seconds: 900, requests: 40 },
};
/** System prompt, tools and project instructions: the same for all tasks. */
const SHARED_TOKENS = 14_000;
/** What a request adds to the conversation, and what it answers. */
const ADDED_TOKENS = 1_500;
const OUTPUT_TOKENS = 600;
/** With a planned launch the others wait until the first one has its first token. */
const FIRST_TOKEN_SECONDS = 4;
const WIDTHS = [1, 2, 4, 8, 16] as const;
/** A width is worth it while it takes less than this share more than the fastest. */
const NEAR_FASTEST = 1.1;

export interface WidthForecast {
  width: number;
  seconds: FigureRange;
  /** Null if the price of the model is not known. `planned`: with a launch planned for the cache. */
  usd: { planned: FigureRange | null; unplanned: FigureRange | null };
}

export interface TaskForecast {
  /** Tasks that could start together, if nothing else limited them. */
  order: string[][];
  criticalPath: string[];
  widths: WidthForecast[];
  recommended: number;
  /** Tasks that never start: they wait for deferred ones. */
  stuck: string[];
}

export function forecast(graph: TaskGraph, model: string): TaskForecast {
  const free = simulate(graph, Number.POSITIVE_INFINITY, 1, false);
  const count = free.starts.size;
  const widths = WIDTHS.map((width): WidthForecast => {
    const steps = simulate(graph, width, 1, true).end;
    const together = Math.min(width, free.order[0]?.length ?? 0);
    return {
      width,
      seconds: range((which) => steps * DEFAULTS[which].seconds + (together > 1 ? FIRST_TOKEN_SECONDS : 0)),
      usd: {
        planned: priced(model, count, Math.min(1, count)),
        unplanned: priced(model, count, together),
      },
    };
  });
  const fastest = Math.min(...widths.map(({ seconds }) => seconds.likely));
  const recommended = widths.find(({ seconds }) => seconds.likely <= fastest * NEAR_FASTEST)?.width ?? 1;
  const stuck = graph.nodes.filter(({ id }) => !free.starts.has(id)).map(({ id }) => id);
  return { order: free.order, criticalPath: criticalPath(graph, free.starts), widths, recommended, stuck };
}

interface Simulation {
  /** When each task starts. */
  starts: Map<string, number>;
  end: number;
  /** Ids by start, earliest first. */
  order: string[][];
}

/** Runs the queue on a clock of its own; every task takes `seconds`. */
export function simulate(graph: TaskGraph, width: number, seconds: number, fileGate: boolean): Simulation {
  const nodes = fileGate ? graph.nodes : graph.nodes.map((node) => ({ ...node, files: [] }));
  const queue = new ReadyQueue({ nodes }, { sharedCheckout: false });
  const starts = new Map<string, number>();
  const order: string[][] = [];
  let running: { id: string; end: number }[] = [];
  let now = 0;
  for (;;) {
    const taken = queue.take(width - running.length);
    if (taken.length > 0) order.push(taken);
    for (const id of taken) {
      starts.set(id, now);
      running.push({ id, end: now + seconds });
    }
    if (running.length === 0) return { starts, end: now, order };
    now = Math.min(...running.map(({ end }) => end));
    for (const { id, end } of running) if (end <= now) queue.finish(id, 'done');
    running = running.filter(({ end }) => end > now);
  }
}

/** The longest chain: from what starts last, back to what it waited for. */
function criticalPath({ nodes }: TaskGraph, starts: ReadonlyMap<string, number>): string[] {
  const startOf = (id: string): number => starts.get(id) ?? -1;
  const started = nodes.filter(({ id }) => starts.has(id));
  const byId = new Map(started.map((node) => [node.id, node]));
  const latest = (ids: readonly string[]): string | undefined => {
    let found: string | undefined;
    for (const id of ids)
      if (starts.has(id) && (found === undefined || startOf(id) > startOf(found))) found = id;
    return found;
  };
  const path: string[] = [];
  for (let id = latest(started.map((node) => node.id)); id !== undefined; ) {
    path.unshift(id);
    const node = byId.get(id);
    const barrier = node?.barrier ?? null;
    const own = latest(node?.waits ?? []);
    const start = startOf(id);
    if (start === 0) break;
    // What its phase waited for counts if nothing of its own ended last.
    const earlier = started.filter(
      (one) => barrier !== null && one.barrier !== null && one.barrier < barrier,
    );
    const before = latest(earlier.map((one) => one.id));
    id = latest([own, before].filter((one) => one !== undefined));
  }
  return path;
}

function range(value: (which: Case) => number): FigureRange {
  return { low: value('low'), likely: value('likely'), high: value('high') };
}

/** `writers` tasks write the shared beginning into the cache, the others read it. */
function priced(model: string, count: number, writers: number): FigureRange | null {
  const usdOf = (which: Case): number | null => {
    const { requests } = DEFAULTS[which];
    const writing = taskCost(model, requests, true);
    const reading = taskCost(model, requests, false);
    return writing === null || reading === null ? null : writing * writers + reading * (count - writers);
  };
  const [low, likely, high] = [usdOf('low'), usdOf('likely'), usdOf('high')];
  return low === null || likely === null || high === null ? null : { low, likely, high };
}

/** Every request reads the conversation so far from the cache and writes what it adds. */
function taskCost(model: string, requests: number, writesShared: boolean): number | null {
  let sum: number | null = 0;
  for (let request = 0; request < requests; request++) {
    const writes = writesShared && request === 0;
    const usage = {
      ...NO_USAGE,
      cache_creation_input_tokens: (writes ? SHARED_TOKENS : 0) + ADDED_TOKENS,
      cache_read_input_tokens: (writes ? 0 : SHARED_TOKENS) + request * ADDED_TOKENS,
      output_tokens: OUTPUT_TOKENS,
    };
    sum = addCost(sum, costOf(model, usage).usd);
  }
  return sum;
}
