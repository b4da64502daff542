/**
 * What the tasks of a list would take, by what earlier tasks took: the same task (id and title) if there was one, else those
 * of the same kind (agent type and effort), else all. Only tasks that are done count: they include their failed attempts.
 */
import { costOf } from '../../model/prices.ts';
import type { RunHistory, TaskHistory } from './run-history.ts';

/** The newest of a pool count: prompts, checks and machines change. */
const MOST_OF_A_POOL = 200;
const MOST_OF_ONE_TASK = 5;

export interface EstimatedTask {
  readonly id: string;
  readonly title: string;
  readonly type?: string | undefined;
  readonly effort?: string | undefined;
}

export interface TaskEstimate {
  /** While its agent has a place, and after that until others may build on it. */
  readonly workMs: number;
  readonly landMs: number;
  /** Where it reads the shared beginning from the cache; null if unknown. */
  readonly usd: number | null;
  /** What writing it costs on top. */
  readonly writingUsd: number;
}

export interface Estimates {
  of(id: string): TaskEstimate;
  readonly headMs: number;
  readonly tailMs: number;
  /** What a run costs beside its tasks' agents, per task. */
  readonly otherUsd: number | null;
  /** How many of `count` tasks write the shared beginning, if launches are planned for the cache. */
  writers(count: number): number;
  /** How far single tasks are from the mean, as a share of it. */
  readonly spread: { readonly time: number; readonly cost: number };
  /** What it rests on. */
  readonly runs: number;
  readonly tasks: number;
  /** How many of the list's tasks were done before. */
  readonly known: number;
}

/** `runs` newest first. Null if no task of them is done. */
export function estimatesOf(
  list: readonly EstimatedTask[],
  runs: readonly RunHistory[],
  model: string,
): Estimates | null {
  const useful = runs.filter(({ tasks, competing }) => competing === 1 && tasks.some(isUseful));
  const done = useful.flatMap(warmTasks);
  if (done.length === 0) return null;
  const worth = writingUsd(done, model);
  const costs = done.map((task) => readingUsd(task, model, worth));
  const byTask = Map.groupBy(done, sameTask);
  const byKind = Map.groupBy(done, sameKind);
  const pools = new Map(list.map((task) => [task.id, poolFor(task, byTask, byKind, done)]));
  return {
    of: (id) => {
      const pool = pools.get(id) ?? done;
      return {
        workMs: mean(pool.map(({ workMs }) => workMs)),
        landMs: mean(pool.map((task) => landMsOf(task) + task.pauseMs)),
        usd: knownMean(pool.map((task) => readingUsd(task, model, worth))),
        writingUsd: worth,
      };
    },
    headMs: mean(useful.map((run) => run.headMs + warmUpMs(run))),
    tailMs: mean(useful.filter(({ ended }) => ended).map(({ tailMs }) => tailMs)),
    otherUsd: knownMean(
      useful.map(({ otherUsd, tasks }) => (otherUsd === null ? null : otherUsd / tasks.length)),
    ),
    writers: writersOf(useful),
    spread: {
      time: spreadOf(done.map((task) => task.workMs + landMsOf(task))),
      cost: spreadOf(costs.flatMap((cost) => cost ?? [])),
    },
    runs: useful.length,
    tasks: done.length,
    known: list.filter((task) => byTask.has(sameTask(task))).length,
  };
}

function isUseful({ outcome, requests, startedAt }: TaskHistory): boolean {
  return outcome === 'done' && startedAt !== null && requests > 0;
}

interface WarmUp {
  readonly setupMs: number;
  readonly landMs: number;
}

/**
 * The first tasks of a run begin and land slower than others: there are no worktrees to take over, nothing is in memory,
 * and all are finished at the same time.
 */
function warmUpOf(run: RunHistory): WarmUp {
  const [first, later] = byBeginning(run);
  if (first.length === 0 || later.length === 0) return { setupMs: 0, landMs: 0 };
  const extra = (part: (task: TaskHistory) => number): number =>
    Math.max(0, mean(first.map(part)) - mean(later.map(part)));
  return { setupMs: extra(({ setupMs }) => setupMs), landMs: extra(landMsOf) };
}

function warmUpMs(run: RunHistory): number {
  const { setupMs, landMs } = warmUpOf(run);
  return setupMs + landMs;
}

/** What is done, as if none had been among the first. */
function warmTasks(run: RunHistory): TaskHistory[] {
  const { setupMs, landMs } = warmUpOf(run);
  const [first, later] = byBeginning(run);
  const warm = first.map((task) => ({
    ...task,
    workMs: Math.max(0, task.workMs - setupMs),
    verifyMs: Math.max(0, task.verifyMs - landMs),
  }));
  return [...warm, ...later];
}

function landMsOf({ verifyMs, mergeMs }: TaskHistory): number {
  return verifyMs + mergeMs;
}

function byBeginning({ tasks, width }: RunHistory): [first: TaskHistory[], later: TaskHistory[]] {
  const started = tasks.filter(isUseful).sort((one, other) => (one.startedAt ?? 0) - (other.startedAt ?? 0));
  return [started.slice(0, width), started.slice(width)];
}

function sameTask({ id, title }: Pick<EstimatedTask, 'id' | 'title'>): string {
  return `${id}\n${title}`;
}

function sameKind({
  type,
  effort,
}: {
  type?: string | null | undefined;
  effort?: string | null | undefined;
}): string {
  return `${type ?? ''}\n${effort ?? ''}`;
}

function poolFor(
  task: EstimatedTask,
  byTask: ReadonlyMap<string, TaskHistory[]>,
  byKind: ReadonlyMap<string, TaskHistory[]>,
  all: readonly TaskHistory[],
): readonly TaskHistory[] {
  const own = byTask.get(sameTask(task));
  if (own !== undefined) return own.slice(0, MOST_OF_ONE_TASK);
  return (byKind.get(sameKind(task)) ?? all).slice(0, MOST_OF_A_POOL);
}

/** What a task saves that reads what others have written. */
function writingUsd(done: readonly TaskHistory[], model: string): number {
  const saved = done.flatMap((task) => {
    const { reused, usage } = task;
    if (reused.tokens === 0) return [];
    if (task.model === model) return reused.savedUsd ?? [];
    const reading = costOf(model, usage).usd;
    const writing = costOf(model, {
      ...usage,
      cache_read_input_tokens: usage.cache_read_input_tokens - reused.tokens,
      cache_creation_input_tokens: usage.cache_creation_input_tokens + reused.tokens,
    }).usd;
    return reading === null || writing === null ? [] : writing - reading;
  });
  return saved.length === 0 ? 0 : mean(saved);
}

/** What it would have cost if it had read what others write. */
function readingUsd(task: TaskHistory, model: string, worth: number): number | null {
  const usd = task.model === model ? task.costUsd : costOf(model, task.usage).usd;
  return usd === null ? null : task.reused.tokens > 0 ? usd : Math.max(0, usd - worth);
}

/** At least one in each run; what was seen beyond that grows with the number of tasks. */
function writersOf(runs: readonly RunHistory[]): Estimates['writers'] {
  const counted = runs.map(({ tasks }) => tasks.filter(({ requests }) => requests > 0));
  const all = counted.reduce((sum, tasks) => sum + tasks.length, 0);
  const writing = counted.reduce(
    (sum, tasks) => sum + tasks.filter(({ reused }) => reused.tokens === 0).length,
    0,
  );
  const first = Math.min(runs.length, writing);
  const others = all > runs.length ? (writing - first) / (all - runs.length) : 0;
  return (count) => Math.min(count, first / runs.length + Math.max(0, count - 1) * others);
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function knownMean(values: readonly (number | null)[]): number | null {
  const known = values.flatMap((value) => value ?? []);
  return known.length < values.length ? null : mean(known);
}

/** The standard deviation as a share of the mean. */
function spreadOf(values: readonly number[]): number {
  const middle = mean(values);
  if (values.length < 2 || middle <= 0) return 0;
  const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1)) / middle;
}
