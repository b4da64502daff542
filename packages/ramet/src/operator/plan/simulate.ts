/** Runs a queue of tasks on a clock of its own. */
import { ReadyQueue } from '../schedule/ready-queue.ts';
import type { TaskGraph } from '../schedule/task-graph.ts';

/** How long an agent works on a task, and how long it takes then until others may build on it. */
export interface TaskSpan {
  readonly work: number;
  readonly land: number;
}

export interface Simulation {
  readonly starts: ReadonlyMap<string, number>;
  /** When others may build on it. */
  readonly ends: ReadonlyMap<string, number>;
  readonly end: number;
  /** Ids by start, earliest first. */
  readonly order: readonly (readonly string[])[];
}

interface SimulatedTask {
  readonly id: string;
  readonly workedAt: number;
  readonly endsAt: number;
}

export interface SimulationOptions {
  /** Agents at once: a task needs a place only while its agent works. */
  width: number;
  spanOf(id: string): TaskSpan;
  /** Whether two tasks that name one file take turns. */
  fileGate: boolean;
}

export function simulate(graph: TaskGraph, { width, spanOf, fileGate }: SimulationOptions): Simulation {
  const nodes = fileGate ? graph.nodes : graph.nodes.map((node) => ({ ...node, files: [] }));
  const queue = new ReadyQueue({ nodes }, { sharedCheckout: new Set() });
  const starts = new Map<string, number>();
  const ends = new Map<string, number>();
  const order: string[][] = [];
  let running: SimulatedTask[] = [];
  let now = 0;
  for (;;) {
    const places = width - running.filter(({ workedAt }) => workedAt > now).length;
    const taken = places > 0 ? queue.take(places) : [];
    if (taken.length > 0) order.push(taken);
    for (const id of taken) {
      const { work, land } = spanOf(id);
      const task = { id, workedAt: now + work, endsAt: now + work + land };
      starts.set(id, now);
      ends.set(id, task.endsAt);
      running.push(task);
    }
    if (running.length === 0) return { starts, ends, end: now, order };
    now = nextTime(running, now);
    for (const { id, endsAt } of running) if (endsAt <= now) queue.finish(id, 'done');
    running = running.filter(({ endsAt }) => endsAt > now);
  }
}

function nextTime(running: readonly SimulatedTask[], now: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { workedAt, endsAt } of running) next = Math.min(next, workedAt > now ? workedAt : endsAt);
  return next;
}
