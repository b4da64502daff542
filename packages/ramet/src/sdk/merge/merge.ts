/** Merges branches of agents: what would conflict, the merge itself, and continuing one that waits (WORK-5). */
import {
  conflictMatrix,
  DEFAULT_CHECK_SECONDS,
  listedEntries,
  openMergeEntries,
  runMergeQueue,
  shellWord,
  shortName,
} from '../../git/merges.ts';
import type { ConflictMatrix, MergeEntries, MergeEntry, MergeReport, MergeWishes } from '../../git/shapes.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { ConflictPolicy, MergeStrategy } from '../../schema/status.ts';
import { openSession } from '../session/session.ts';
import { type MergeTargetOptions, mergePorts, openTarget, projectOf } from './open-target.ts';
import type { OpenedPullRequest } from './pull-requests.ts';

export type { MergeTargetOptions } from './open-target.ts';

export interface MergeOptions extends MergeTargetOptions {
  /** `merge` when absent. */
  strategy?: MergeStrategy;
  /** A shell command that must succeed on the merged files; false for none, whatever the settings say. */
  check?: string | false;
  checkSeconds?: number;
  /** `person` when absent. */
  onConflict?: ConflictPolicy;
  /** Of the agents that resolve conflicts. */
  resolveModel?: string;
  /** What one of them may spend, and all together. */
  resolveBudgetUsd?: number;
  maxBudgetUsd?: number;
  /** Move a target that is checked out too, when that checkout is clean. */
  updateCheckout?: boolean;
}

/** What would conflict with what; nothing is merged. */
export async function previewMerge(
  branches: readonly string[],
  options: MergeTargetOptions = {},
): Promise<ConflictMatrix> {
  const { target, repository } = await openTarget(options);
  if (branches.length === 0) throw noBranches();
  return conflictMatrix(target, branches, repository);
}

/** One branch after the other, each checked, without touching a checkout. */
export async function mergeBranches(
  branches: readonly string[],
  options: MergeOptions = {},
): Promise<MergeReport> {
  return runMerge(branches, options, false);
}

/** Continues what waits for the target with the check and the policy of its last run; `branches` join it. */
export async function continueMerge({
  branches = [],
  ...options
}: MergeOptions & { branches?: readonly string[] } = {}): Promise<MergeReport> {
  return runMerge(branches, options, true);
}

/** What waits, what was left behind and why. */
export async function mergeQueue(options: MergeTargetOptions = {}): Promise<MergeEntry[]> {
  const { caller, repository } = await openTarget(options);
  const project = projectOf(repository, caller);
  using entries = openMergeEntries(project);
  // What the operator merges for itself is told by its own report.
  const own = entries.list().filter(({ target }) => !target.startsWith('refs/ramet/'));
  return await listedEntries(own, repository, {
    wishesOf: (ref) => wishesOf(entries, ref),
    project,
  });
}

/** Pushes each branch and opens a pull request with `gh`. */
export async function proposeBranches(
  branches: readonly string[],
  options: MergeTargetOptions = {},
): Promise<OpenedPullRequest[]> {
  const { caller, target, repository } = await openTarget(options);
  if (branches.length === 0) throw noBranches();
  const { openPullRequests } = await import('./pull-requests.ts');
  return openPullRequests({ target, branches, repository, caller });
}

async function runMerge(
  branches: readonly string[],
  options: MergeOptions,
  isContinued: boolean,
): Promise<MergeReport> {
  const opened = await openTarget(options);
  const { caller, settings, repository, target } = opened;
  const project = projectOf(repository, caller);
  using entries = openMergeEntries(project);
  const ref = `refs/heads/${target}`;
  const waits = entries.list(ref).some(({ state }) => state === 'waiting' || state === 'integrated');
  if (branches.length === 0 && !waits) throw noBranches(target, waitingTargets(entries));
  const wishes = wishesFrom(options, settings.merge, isContinued ? wishesOf(entries, ref) : null);
  const request = { target, branches, strategy: options.strategy ?? 'merge', ...wishes };
  const { agentResolver } = await import('./agent-resolver.ts');
  const { resolveModel: model, resolveBudgetUsd: budgetUsd, maxBudgetUsd } = options;
  const place = { repository, project, caller, open: openSession };
  const resolveConflict = agentResolver({ ...place, model, budgetUsd, maxBudgetUsd });
  const ports = mergePorts(opened, project, { check: wishes.check, resolveConflict });
  return await runMergeQueue(request, { ...ports, entries });
}

function wishesOf(entries: MergeEntries, ref: string): MergeWishes | null {
  const text = entries.wishes(ref);
  // Only the merge queue writes them, from a MergeWishes.
  return text === null ? null : (JSON.parse(text) as MergeWishes);
}

/** `last`: what the last run of this target was asked for; null unless it is continued. */
function wishesFrom(
  options: MergeOptions,
  settings: { check?: string | undefined; checkSeconds?: number | undefined } = {},
  last: MergeWishes | null,
): MergeWishes {
  const { check, checkSeconds, updateCheckout, onConflict = 'person' } = options;
  const command = check === false ? undefined : (check ?? settings.check);
  const timeoutMs = (checkSeconds ?? settings.checkSeconds ?? DEFAULT_CHECK_SECONDS) * 1_000;
  const wanted = command === undefined ? null : { command, timeoutMs };
  if (last === null) return { check: wanted, onConflict, updateCheckout: updateCheckout ?? false };
  return {
    check: check === undefined ? (last.check ?? wanted) : wanted,
    onConflict: onConflict === 'person' ? last.onConflict : onConflict,
    updateCheckout: updateCheckout ?? last.updateCheckout,
  };
}

function waitingTargets(entries: MergeEntries): string[] {
  const open = entries
    .list()
    .filter(({ state }) => state === 'waiting' || state === 'integrated')
    .filter(({ target }) => !target.startsWith('refs/ramet/'));
  return [...new Set(open.map(({ target }) => shortName(target)))];
}

function noBranches(target?: string, waiting: readonly string[] = []): UserMistake {
  const others = waiting.map((name) => `ramet merge --continue --into ${shellWord(name)}`).join(', or ');
  return new UserMistake(
    'no_branches',
    others === ''
      ? 'nothing waits to be merged: name branches, such as ramet merge BRANCH --into main'
      : `nothing waits to be merged into ${target}, but elsewhere something does: ${others}`,
  );
}
