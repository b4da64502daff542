/** Where a merge goes, and what the merge queue needs for it. */
import { resolve } from 'node:path';
import { checkPackages } from '../../git/managed-worktrees.ts';
import { currentBranch, findMergeRepository } from '../../git/merges.ts';
import type { MergePorts, MergeRepository, MergeWishes } from '../../git/shapes.ts';
import { systemClock } from '../../schema/clock.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { SettingsInForce } from '../../settings/settings.ts';
import { busyText } from '../../system/check-slots.ts';
import { childEnvironment, withoutOwnPrograms } from '../../system/child-environment.ts';
import { makePrivateDirectory, projectDirectory, rametHome } from '../../system/home.ts';
import { isTrusted } from '../../system/trust.ts';
import { type Caller, type CallOptions, callerOf } from '../calls/caller.ts';
import { heavySlots } from '../place.ts';
import { sessionSettings } from '../session/setup/session-settings.ts';

export interface MergeTargetOptions extends CallOptions {
  /** The target; the branch that is checked out in `cwd` when absent. */
  into?: string;
}

export interface OpenTarget {
  caller: Caller;
  settings: SettingsInForce['settings'];
  repository: MergeRepository;
  target: string;
}

export async function openTarget(options: MergeTargetOptions): Promise<OpenTarget> {
  const caller = callerOf(options);
  const { cwd, env, signal } = caller;
  const { settings, notices } = await sessionSettings({ cwd, env });
  // A check that does not run must not look like one that passed.
  for (const notice of notices) if (/\bmerge\b/.test(notice)) caller.note(notice);
  const ours = withoutOwnPrograms(childEnvironment(env, settings.env?.childVariables), cwd);
  const repository = findMergeRepository(cwd, ours, signal);
  const target = options.into ?? currentBranch(repository);
  if (target === null) throw noTarget();
  return { caller, settings, repository, target };
}

/** Without the entries: the caller opens and closes them. */
export function mergePorts(
  { caller, settings, repository }: OpenTarget,
  project: string,
  { check, resolveConflict }: Pick<MergeWishes, 'check'> & Pick<MergePorts, 'resolveConflict'>,
): Omit<MergePorts, 'entries'> {
  const home = rametHome(caller.env);
  return {
    ...{ repository, project, clock: systemClock },
    ...(resolveConflict !== undefined && { resolveConflict }),
    prepareCheck: checkPackages({
      ...{ home, repository, settings: settings.worktree, check: check?.command },
      isTrusted: isTrusted({ home, root: repository.cwd }),
      onInstall: (command) =>
        caller.note(`packages for the check are installed with ${command}, once for this lock file`),
    }),
    checkTrees: settings.worktree?.directory && resolve(repository.cwd, settings.worktree.directory),
    slots: heavySlots(home, caller.env, settings.merge?.checksAtOnce ?? settings.limits?.heavyCommands),
    onCheckWaits: (running) => caller.note(`the check ${waitText(running)}`),
    onCheck: ({ output, timeoutMs }) =>
      caller.note(`the check has begun; it may take ${timeoutMs / 1_000} s; its output: ${output}`),
    onStep: (step) => caller.progress(`merge: ${step}`),
  };
}

/** Behind the name of what waits. */
export function waitText(running: number): string {
  return `waits for a place: ${busyText(running)}`;
}

export function projectOf({ cwd, commonDirectory }: MergeRepository, { env }: Caller): string {
  const project = projectDirectory(rametHome(env), { root: cwd, commonDirectory });
  makePrivateDirectory(project);
  return project;
}

function noTarget(): UserMistake {
  return new UserMistake(
    'no_target',
    'HEAD is on no branch here: say with --into which branch to merge into',
  );
}
