/** What earlier runs say about working in parallel (OP-7): conflicts, the price of worktrees, launches, and how good plans were. */
import { addUsage, hitRate, NO_USAGE } from '../../schema/usage.ts';
import { filesOverlap } from '../schedule/file-overlap.ts';
import { mean } from './estimate.ts';
import { type PredictionRecord, predictionRecord } from './prediction-record.ts';
import type { RunHistory, TaskHistory } from './run-history.ts';

const WIDTHS = [2, 4, 8, 16] as const;

/** Below these numbers a figure says little, and views say so. */
const ENOUGH = { tasks: 20, worktrees: 10, followers: 10, predictions: 3 } as const;

export interface CountedShare {
  readonly count: number;
  readonly of: number;
}

export interface WorktreeCosts {
  readonly tasks: number;
  readonly makingMs: number;
  readonly mergingMs: number;
  /** The check runs in it: it would run without worktrees too. */
  readonly verifyingMs: number;
  readonly taskMs: number;
  /** Making and merging as a share of the task's time. */
  readonly share: number;
  /** Tasks longer than this are done sooner in worktrees side by side than one after the other in one checkout. */
  readonly breakEven: readonly { readonly width: number; readonly taskMs: number }[];
}

export interface LaunchCosts {
  readonly leads: number;
  readonly followers: number;
  readonly atOnce: number;
  readonly heldMs: number;
  readonly sharedTokens: number;
  /** Per follower; null if unknown. */
  readonly savedUsd: number | null;
  /** Staggering is right while an hour of waiting is worth less than this; null if unknown. */
  readonly crossoverUsdPerHour: number | null;
}

export interface OperatorStatistics {
  readonly runs: number;
  readonly tasks: CountedShare;
  readonly from: number | null;
  readonly until: number | null;
  /** Tasks that ran beside others and were merged: how many conflicted. */
  readonly conflicts: {
    readonly declared: CountedShare;
    readonly undeclared: CountedShare;
    /** Tasks that declared files and changed others. */
    readonly outside: CountedShare;
    readonly enough: boolean;
  };
  readonly worktrees: (WorktreeCosts & { readonly enough: boolean }) | null;
  readonly launches: (LaunchCosts & { readonly enough: boolean }) | null;
  readonly cacheHitRate: number | null;
  readonly predictions: PredictionRecord & { readonly enough: boolean };
}

export function operatorStatistics(runs: readonly RunHistory[]): OperatorStatistics {
  const tasks = runs.flatMap((run) => run.tasks);
  const beside = runs.flatMap(tasksBesideOthers);
  const declaring = beside.filter(({ declared }) => declared.length > 0);
  const silent = beside.filter(({ declared }) => declared.length === 0);
  const worktrees = worktreeCosts(tasks);
  const launches = launchCosts(runs);
  const predictions = predictionRecord(runs);
  const times = runs.map(({ startedAt }) => startedAt);
  return {
    runs: runs.length,
    tasks: { count: tasks.filter(({ outcome }) => outcome === 'done').length, of: tasks.length },
    from: times.length === 0 ? null : Math.min(...times),
    until: times.length === 0 ? null : Math.max(...times),
    conflicts: {
      declared: counted(declaring, ({ conflicted }) => conflicted),
      undeclared: counted(silent, ({ conflicted }) => conflicted),
      outside: counted(
        tasks.filter(({ declared, changed }) => declared.length > 0 && changed.length > 0),
        ({ declared, changed }) => changed.some((path) => !filesOverlap([path], declared)),
      ),
      enough: beside.length >= ENOUGH.tasks,
    },
    worktrees: worktrees && { ...worktrees, enough: worktrees.tasks >= ENOUGH.worktrees },
    launches: launches && { ...launches, enough: launches.followers >= ENOUGH.followers },
    cacheHitRate: hitRate(tasks.map(({ usage }) => usage).reduce(addUsage, NO_USAGE)),
    predictions: { ...predictions, enough: predictions.compared.length >= ENOUGH.predictions },
  };
}

/** Of those that got so far that a conflict would have shown. */
function tasksBesideOthers({ tasks }: RunHistory): TaskHistory[] {
  return tasks.filter(
    (one) =>
      (one.outcome === 'done' || one.conflicted) &&
      tasks.some((other) => other !== one && wereTogether(one, other)),
  );
}

function wereTogether(one: TaskHistory, other: TaskHistory): boolean {
  if (one.startedAt === null || other.startedAt === null) return false;
  return (
    one.startedAt < (other.endedAt ?? Number.POSITIVE_INFINITY) &&
    other.startedAt < (one.endedAt ?? Number.POSITIVE_INFINITY)
  );
}

function counted<Item>(items: readonly Item[], holds: (item: Item) => boolean): CountedShare {
  return { count: items.filter(holds).length, of: items.length };
}

function worktreeCosts(all: readonly TaskHistory[]): WorktreeCosts | null {
  const tasks = all.filter(({ outcome, worktreeMs }) => outcome === 'done' && worktreeMs !== null);
  if (tasks.length === 0) return null;
  const makingMs = mean(tasks.map(({ worktreeMs }) => worktreeMs ?? 0));
  const mergingMs = mean(tasks.map(({ mergeMs }) => mergeMs));
  const verifyingMs = mean(tasks.map(({ verifyMs }) => verifyMs));
  const taskMs = mean(tasks.map(({ workMs }) => workMs)) + mergingMs + verifyingMs;
  const extra = makingMs + mergingMs;
  return {
    ...{ tasks: tasks.length, makingMs, mergingMs, verifyingMs, taskMs },
    share: taskMs === 0 ? 0 : Math.min(1, extra / taskMs),
    // n tasks of t: n * t one after the other, n * (t + extra) / width side by side.
    breakEven: WIDTHS.map((width) => ({ width, taskMs: extra / (width - 1) })),
  };
}

function launchCosts(runs: readonly RunHistory[]): LaunchCosts | null {
  const all = runs.flatMap(({ launches }) => launches);
  if (all.length === 0) return null;
  const followers = all.filter(({ choice }) => choice === 'follow');
  const leads = all.filter(({ choice }) => choice === 'lead').length;
  const saved = followers.flatMap(({ savedUsd }) => savedUsd ?? []);
  const savedUsd = followers.length === 0 || saved.length < followers.length ? null : mean(saved);
  const heldMs = mean(followers.map(({ heldMs: held }) => held));
  // Those that follow one lead wait together, so their time counts once.
  const perLead = followers.length / Math.max(1, leads);
  return {
    ...{ leads, followers: followers.length, atOnce: all.length - leads - followers.length, heldMs },
    sharedTokens: mean(all.map(({ sharedTokens }) => sharedTokens)),
    savedUsd,
    crossoverUsdPerHour: savedUsd === null || heldMs === 0 ? null : (savedUsd * perLead * 3_600_000) / heldMs,
  };
}
