/** `ramet merge`: what is asked for goes to the merge queue, a preview or `gh`. */
import { resolve } from 'node:path';
import { makePrivateDirectory, projectDirectory, rametHome } from '../../journal/home.ts';
import { type MergeEntries, openMergeEntries } from '../../journal/merge-entries.ts';
import { systemClock } from '../../schema/clock.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { ConflictPolicy, MergeStrategy } from '../../schema/merge-policy.ts';
import { callerOf } from '../../sdk/caller.ts';
import { sessionSettings } from '../../sdk/session-settings.ts';
import { showMatrix, showQueue, showReport } from '../../views/merge-text.ts';
import { childEnvironment } from '../../workspace/child-environment.ts';
import { currentBranch } from '../../workspace/merge/branch-checkouts.ts';
import { conflictMatrix } from '../../workspace/merge/conflict-matrix.ts';
import { shortName } from '../../workspace/merge/integration-refs.ts';
import { listedEntries } from '../../workspace/merge/merge-advice.ts';
import { runMergeQueue } from '../../workspace/merge/merge-queue.ts';
import { findMergeRepository, type MergeRepository } from '../../workspace/merge/merge-repository.ts';
import type { MergeRequest, MergeWishes } from '../../workspace/merge/merge-request.ts';
import { DEFAULT_CHECK_SECONDS, shellWord } from '../../workspace/merge/repeat-options.ts';
import { withoutOwnPrograms } from '../../workspace/own-programs.ts';
import { isTrusted } from '../../workspace/trust.ts';
import { checkPackages } from '../../workspace/worktrees/check-packages.ts';
import { EXIT } from '../exit-code.ts';
import type { CommandIo } from '../io.ts';

export interface MergeOptions {
  into?: string;
  strategy: MergeStrategy;
  /** False for `--no-check`. */
  check?: string | false;
  checkSeconds?: number;
  onConflict: ConflictPolicy;
  resolveModel?: string;
  resolveBudgetUsd?: number;
  maxBudgetUsd?: number;
  updateCheckout?: boolean;
  continue?: boolean;
  preview?: boolean;
  status?: boolean;
  pr?: boolean;
  json?: boolean;
}

export async function merge(
  branches: readonly string[],
  options: MergeOptions,
  io: CommandIo,
): Promise<number> {
  const { settings } = await sessionSettings({ cwd: io.cwd, env: io.env });
  const env = withoutOwnPrograms(childEnvironment(io.env, settings.env?.childVariables), io.cwd);
  const repository = findMergeRepository(io.cwd, env, io.signal);
  const target = options.into ?? currentBranch(repository);
  if (target === null) throw noTarget();
  const show = (value: object, text: string): void =>
    io.out(options.json ? `${JSON.stringify(value)}\n` : text);
  if (options.preview) {
    if (branches.length === 0) throw noBranches();
    const matrix = await conflictMatrix(target, branches, repository);
    show(matrix, showMatrix(matrix));
    return matrix.conflicts.length === 0 ? EXIT.done : EXIT.failed;
  }
  if (options.pr) {
    if (branches.length === 0) throw noBranches();
    const { openPullRequests } = await import('../../sdk/merge/pull-requests.ts');
    const opened = await openPullRequests({ target, branches, repository, caller: callerOf(io) });
    show(opened, opened.map(({ branch, url }) => `${branch}  ${url}\n`).join(''));
    return EXIT.done;
  }
  const project = projectOf(repository, io);
  using entries = openMergeEntries(project);
  if (options.status) {
    const queue = await listedEntries(entries.list(), repository, {
      wishesOf: (ref) => wishesOf(entries, ref),
      project,
    });
    show(queue, showQueue(queue));
    return EXIT.done;
  }
  const ref = `refs/heads/${target}`;
  const waits = entries.list(ref).some(({ state }) => state === 'waiting' || state === 'integrated');
  if (branches.length === 0 && !waits) throw noBranches(target, waitingTargets(entries));
  const wishes = wishesFrom(options, settings.merge, kept(options, entries, ref));
  const request: MergeRequest = { target, branches, strategy: options.strategy, ...wishes };
  const { agentResolver } = await import('../../sdk/merge/agent-resolver.ts');
  const ports = { repository, project, entries, clock: systemClock };
  const report = await runMergeQueue(request, {
    ...ports,
    resolveConflict: agentResolver({
      repository,
      project,
      caller: callerOf(io),
      model: options.resolveModel,
      budgetUsd: options.resolveBudgetUsd,
      maxBudgetUsd: options.maxBudgetUsd,
    }),
    prepareCheck: checkPackages({
      ...{ home: rametHome(io.env), repository, settings: settings.worktree },
      isTrusted: isTrusted({ home: rametHome(io.env), root: repository.cwd }),
      check: wishes.check?.command,
      onInstall: (command) =>
        io.note(`packages for the check are installed with ${command}, once for this lock file`),
    }),
    checkTrees: settings.worktree?.directory && resolve(repository.cwd, settings.worktree.directory),
    onCheck: ({ output, timeoutMs }) =>
      io.note(`the check has begun; it may take ${timeoutMs / 1_000} s; its output: ${output}`),
    onStep: (step) => io.progress(`merge: ${step}`),
  });
  show(report, showReport(report));
  // One that is ready and has a reason was kept from landing by its check.
  const isGood = report.entries.every(
    ({ state, reason }) =>
      ['landed', 'nothing'].includes(state) || (state === 'integrated' && reason === null),
  );
  return isGood ? EXIT.done : EXIT.failed;
}

function projectOf({ cwd, commonDirectory }: MergeRepository, io: CommandIo): string {
  const project = projectDirectory(rametHome(io.env), { root: cwd, commonDirectory });
  makePrivateDirectory(project);
  return project;
}

/** What the last run of this target was asked for; null unless it is to be gone on with. */
function kept(options: MergeOptions, entries: MergeEntries, ref: string): MergeWishes | null {
  return options.continue ? wishesOf(entries, ref) : null;
}

function wishesOf(entries: MergeEntries, ref: string): MergeWishes | null {
  const text = entries.wishes(ref);
  // Only the merge queue writes them, from a MergeWishes.
  return text === null ? null : (JSON.parse(text) as MergeWishes);
}

function wishesFrom(
  options: MergeOptions,
  settings: { check?: string | undefined; checkSeconds?: number | undefined } = {},
  last: MergeWishes | null,
): MergeWishes {
  const { check, checkSeconds, updateCheckout } = options;
  const command = check === false ? undefined : (check ?? settings.check);
  const timeoutMs = (checkSeconds ?? settings.checkSeconds ?? DEFAULT_CHECK_SECONDS) * 1_000;
  const wanted = command === undefined ? null : { command, timeoutMs };
  if (last === null)
    return { check: wanted, onConflict: options.onConflict, updateCheckout: updateCheckout ?? false };
  return {
    check: check === undefined ? (last.check ?? wanted) : wanted,
    onConflict: options.onConflict === 'person' ? last.onConflict : options.onConflict,
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
  const open = entries.list().filter(({ state }) => state === 'waiting' || state === 'integrated');
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
