/** What earlier runs of the operator say about working in parallel, for people and for programs. */
import type { CountedShare, OperatorStatistics } from '../operator/plan/statistics.ts';
import { localDay } from '../schema/local-time.ts';
import { dollars, duration, percent, tokens } from './text/format.ts';

export function statisticsObject(statistics: OperatorStatistics): Record<string, unknown> {
  const { runs, tasks, from, until, conflicts, worktrees, launches, predictions } = statistics;
  return {
    runs,
    tasks: { done: tasks.count, all: tasks.of },
    from: from === null ? null : new Date(from).toISOString(),
    until: until === null ? null : new Date(until).toISOString(),
    conflicts: {
      declared: shareObject(conflicts.declared),
      undeclared: shareObject(conflicts.undeclared),
      changed_undeclared_files: shareObject(conflicts.outside),
      enough: conflicts.enough,
    },
    worktrees: worktrees && {
      tasks: worktrees.tasks,
      making_ms: worktrees.makingMs,
      merging_ms: worktrees.mergingMs,
      verifying_ms: worktrees.verifyingMs,
      task_ms: worktrees.taskMs,
      share: worktrees.share,
      break_even: worktrees.breakEven.map(({ width, taskMs }) => ({ width, task_ms: taskMs })),
      enough: worktrees.enough,
    },
    launches: launches && {
      leads: launches.leads,
      followers: launches.followers,
      at_once: launches.atOnce,
      held_ms: launches.heldMs,
      shared_tokens: launches.sharedTokens,
      saved_usd_per_follower: launches.savedUsd,
      crossover_usd_per_hour: launches.crossoverUsdPerHour,
      enough: launches.enough,
    },
    cache_hit_rate: statistics.cacheHitRate,
    predictions: {
      compared: predictions.compared.map((run) => ({
        started: new Date(run.startedAt).toISOString(),
        width: run.width,
        tasks: run.tasks,
        seconds: { predicted: run.predictedSeconds, actual: run.seconds },
        usd: { predicted: run.predictedUsd, actual: run.usd },
      })),
      without_history: predictions.first,
      disturbed: predictions.disturbed,
      time_error: predictions.time,
      cost_error: predictions.cost,
      enough: predictions.enough,
    },
  };
}

function shareObject({ count, of }: CountedShare): Record<string, number | null> {
  return { count, of, share: of === 0 ? null : count / of };
}

export function statisticsText(statistics: OperatorStatistics): string {
  const { runs, tasks, from, until } = statistics;
  if (runs === 0)
    return 'There is no run of tasks in this repository yet: start one with ramet operate FILE\n';
  const days = [dayOf(from), dayOf(until)];
  const when = days[0] === days[1] ? `on ${days[0]}` : `from ${days[0]} to ${days[1]}`;
  return `${[
    `${plural(runs, 'run')} ${when}: ${tasks.count} of ${plural(tasks.of, 'task')} done`,
    section('Conflicts of tasks that were judged independent', conflictLines(statistics)),
    section('Worktrees', worktreeLines(statistics)),
    section('Stagger launches, or start all at once', launchLines(statistics)),
    section('Cache', [`${percent(statistics.cacheHitRate)} of what agents were sent was read from it`]),
    section('Plans against what happened', predictionLines(statistics)),
  ].join('\n\n')}\n`;
}

function section(heading: string, lines: readonly string[]): string {
  return [heading, ...lines.map((line) => `  ${line}`)].join('\n');
}

function conflictLines({
  conflicts: { declared, undeclared, outside, enough },
}: OperatorStatistics): string[] {
  if (declared.of + undeclared.of === 0) return ['no task ran beside another yet'];
  return [
    ...(declared.of === 0 ? [] : [`declared files, none in common: ${shareText(declared)} conflicted`]),
    ...(undeclared.of === 0 ? [] : [`declared no files: ${shareText(undeclared)} conflicted`]),
    ...(outside.of === 0 ? [] : [`changed files that they had not declared: ${shareText(outside)}`]),
    ...little(enough),
  ];
}

function worktreeLines({ worktrees }: OperatorStatistics): string[] {
  if (worktrees === null) return ['no task worked in one yet'];
  const { makingMs, mergingMs, verifyingMs, taskMs, share, breakEven, enough, tasks } = worktrees;
  const limits = breakEven.map(({ width, taskMs: least }) => `${duration(least)} with ${width} at once`);
  return [
    `making one takes ${duration(makingMs)} and merging ${duration(mergingMs)}: ${percent(share)} of a task's ${duration(taskMs)} (${plural(tasks, 'task')})`,
    `waiting for the check of the merged result takes ${duration(verifyingMs)}`,
    `they pay off for tasks longer than ${limits.join(', ')}`,
    ...little(enough),
  ];
}

function launchLines({ launches }: OperatorStatistics): string[] {
  if (launches === null || launches.followers === 0)
    return [
      launches === null
        ? 'no launch was recorded yet'
        : `all ${launches.atOnce + launches.leads} agents started at once: there is nothing to compare`,
    ];
  const { leads, followers, heldMs, savedUsd, crossoverUsdPerHour, sharedTokens, enough } = launches;
  return [
    `${plural(followers, 'agent')} waited ${duration(heldMs)} on average for ${plural(leads, 'lead')}, with ${tokens(Math.round(sharedTokens))} tokens in common`,
    `each saved ${dollars(savedUsd)}`,
    crossoverUsdPerHour === null
      ? 'what that is worth is unknown'
      : `staggering is right while an hour of waiting is worth less than ${dollars(crossoverUsdPerHour)}`,
    ...little(enough),
  ];
}

function predictionLines({ predictions }: OperatorStatistics): string[] {
  const { compared, first, disturbed, time, cost, enough } = predictions;
  const left = [
    ...(first === 0 ? [] : [`${plural(first, 'run')} had no history`]),
    ...(disturbed === 0
      ? []
      : [`${plural(disturbed, 'run')} stopped, waited for a person or did not finish all tasks`]),
  ];
  if (compared.length === 0) return ['nothing to compare yet', ...left];
  return [
    `${plural(compared.length, 'run')} against a plan from the runs before`,
    `time: ${errorText(time)}`,
    `cost: ${errorText(cost)}`,
    ...left,
    ...little(enough),
  ];
}

function errorText(error: OperatorStatistics['predictions']['time']): string {
  if (error === null) return 'unknown';
  return `off by ${percent(error.median)} in the median, ${percent(error.worst)} at most`;
}

function little(enough: boolean): string[] {
  return enough ? [] : ['too little data to rely on'];
}

function shareText({ count, of }: CountedShare): string {
  return `${count} of ${plural(of, 'task')} (${percent(of === 0 ? null : count / of)})`;
}

function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function dayOf(time: number | null): string {
  return time === null ? '-' : localDay(time);
}
