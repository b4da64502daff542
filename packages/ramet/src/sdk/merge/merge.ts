/** Merges branches of agents: what would conflict, the merge itself, and continuing one that waits (WORK-5). */
import { resolve } from 'node:path';
import { checkPackages } from '../../git/managed-worktrees.ts';
import {
  conflictMatrix,
  currentBranch,
  DEFAULT_CHECK_SECONDS,
  findMergeRepository,
  listedEntries,
  openMergeEntries,
  runMergeQueue,
  shellWord,
  shortName,
} from '../../git/merges.ts';
import type {
  ConflictMatrix,
  MergeEntries,
  MergeEntry,
  MergePorts,
  MergeReport,
  MergeRepository,
  MergeWishes,
} from '../../git/shapes.ts';
import { systemClock } from '../../schema/clock.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { ConflictPolicy, MergeStrategy } from '../../schema/status.ts';
import { childEnvironment, withoutOwnPrograms } from '../../system/child-environment.ts';
import { makePrivateDirectory, projectDirectory, rametHome } from '../../system/home.ts';
import { isTrusted } from '../../system/trust.ts';
import { type Caller, type CallOptions, callerOf } from '../calls/caller.ts';
import { sessionSettings } from '../session/session-settings.ts';
import type { SettingsInForce } from '../session/settings-in-force.ts';
import type { OpenedPullRequest } from './pull-requests.ts';

export interface MergeTargetOptions extends CallOptions {
  /** The target; the branch that is checked out in `cwd` when absent. */
  into?: string;
}

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

interface OpenTarget {
  caller: Caller;
  settings: SettingsInForce['settings'];
  repository: MergeRepository;
  target: string;
}

async function openTarget(options: MergeTargetOptions): Promise<OpenTarget> {
  const caller = callerOf(options);
  const { cwd, env, signal } = caller;
  const { settings } = await sessionSettings({ cwd, env });
  const ours = withoutOwnPrograms(childEnvironment(env, settings.env?.childVariables), cwd);
  const repository = findMergeRepository(cwd, ours, signal);
  const target = options.into ?? currentBranch(repository);
  if (target === null) throw noTarget();
  return { caller, settings, repository, target };
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
  const ports = await portsOf(opened, project, { ...options, wishes });
  return await runMergeQueue(request, { ...ports, entries });
}

async function portsOf(
  { caller, settings, repository }: OpenTarget,
  project: string,
  { resolveModel, resolveBudgetUsd, maxBudgetUsd, wishes }: MergeOptions & { wishes: MergeWishes },
): Promise<Omit<MergePorts, 'entries'>> {
  const { agentResolver } = await import('./agent-resolver.ts');
  const budget = { model: resolveModel, budgetUsd: resolveBudgetUsd, maxBudgetUsd };
  const home = rametHome(caller.env);
  return {
    ...{ repository, project, clock: systemClock },
    resolveConflict: agentResolver({ repository, project, caller, ...budget }),
    prepareCheck: checkPackages({
      ...{ home, repository, settings: settings.worktree, check: wishes.check?.command },
      isTrusted: isTrusted({ home, root: repository.cwd }),
      onInstall: (command) =>
        caller.note(`packages for the check are installed with ${command}, once for this lock file`),
    }),
    checkTrees: settings.worktree?.directory && resolve(repository.cwd, settings.worktree.directory),
    onCheck: ({ output, timeoutMs }) =>
      caller.note(`the check has begun; it may take ${timeoutMs / 1_000} s; its output: ${output}`),
    onStep: (step) => caller.progress(`merge: ${step}`),
  };
}

function projectOf({ cwd, commonDirectory }: MergeRepository, { env }: Caller): string {
  const project = projectDirectory(rametHome(env), { root: cwd, commonDirectory });
  makePrivateDirectory(project);
  return project;
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

function noTarget(): UserMistake {
  return new UserMistake(
    'no_target',
    'HEAD is on no branch here: say with --into which branch to merge into',
  );
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
