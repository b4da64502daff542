/** The worktrees of agents in a repository: what each contains, and keeping or removing its changes (WORK-3). */
import { accessSync, constants } from 'node:fs';
import {
  collectGarbage,
  leftByHooks,
  leftOutText,
  lostWorktrees,
  pruneLost,
  refuseUnfinished,
  removeWorktree,
  staleLockNotes,
  treeBytes,
  worktreeEnvironment,
} from '../../git/managed-worktrees.ts';
import type { GarbageEntry, ManagedWorktree, WorktreePlace } from '../../git/shapes.ts';
import { systemCode, UserMistake } from '../../schema/errors.ts';
import { refusedRemoval } from '../../views/refused-removal.ts';
import { viewOf, viewsInTime, type WorktreeView } from '../../views/worktree-view.ts';
import { type CallOptions, callerOf } from '../calls/caller.ts';
import { findWorktree, listed, openPlace } from './open-place.ts';

export interface WorktreeList {
  worktrees: WorktreeView[];
  /** What is kept ready for the next agents. */
  ready: { count: number; bytes: number };
  /** Those that git knows and whose directories are gone. */
  lost: number;
  /** What hooks have made and no agent has, one line each. */
  notes: string[];
}

/** `patience` ends looking into files; of the rest the list has what was found last. `all`: also what is gone. */
export async function listWorktrees(
  options: CallOptions & { all?: boolean; patience?: AbortSignal } = {},
): Promise<WorktreeList> {
  using opened = await openPlace(callerOf(options));
  const { place } = opened;
  const patience = options.patience ?? new AbortController().signal;
  const worktrees = await viewsInTime(place, listed(place, options.all), patience);
  const lost = lostWorktrees(place).filter(({ isGone }) => isGone).length;
  return { worktrees, ready: readyIn(place), lost, notes: await hookNotes(place) };
}

/** Never removed: whose work is in it, only a person knows. */
async function hookNotes(place: WorktreePlace): Promise<string[]> {
  const left = await leftByHooks(place);
  return left.map(
    ({ name, path }) =>
      `${path}: left by the WorktreeCreate hook that ran for ${name}, and no agent has it: look at it, then git worktree remove ${path}`,
  );
}

function readyIn({ registry }: WorktreePlace): WorktreeList['ready'] {
  const ready = registry.list().filter(({ state }) => state === 'ready');
  return { count: ready.length, bytes: ready.reduce((sum, { facts }) => sum + (facts.bytes ?? 0), 0) };
}

/** `wanted` is a name, path, branch or id, or the agent whose it is; so in all that follow. */
export async function showWorktree(wanted: string, options: CallOptions = {}): Promise<WorktreeView> {
  using opened = await openPlace(callerOf(options));
  const worktree = findWorktree(opened.place, wanted);
  const [view, bytes] = await Promise.all([viewOf(opened.place, worktree), treeBytes(worktree)]);
  return { ...view, bytes: bytes ?? view.bytes };
}

export interface CollectedWorktree {
  name: string;
  path: string;
  action: GarbageEntry['action'];
  reasons: string[];
  /** It is gone and only remembered, so that its agent can be continued. */
  isMemory: boolean;
}

/** Removes those without changes. Also names locks that were left behind, one line each. */
export async function collectWorktrees(
  options: CallOptions & { dryRun?: boolean } = {},
): Promise<{ worktrees: CollectedWorktree[]; notes: string[] }> {
  const dryRun = options.dryRun ?? false;
  using opened = await openPlace(callerOf(options));
  const { place, cleanupPeriodDays } = opened;
  if (!dryRun) refuseReadOnly(place);
  const collected = await collectGarbage(place, { dryRun, cleanupPeriodDays });
  const pruned = await pruneLost(place, dryRun);
  const worktrees = [
    ...collected.map((entry) => ({
      ...{ name: entry.worktree.name, path: entry.worktree.path, action: entry.action },
      reasons: entry.reasons,
      isMemory: entry.worktree.state === 'gone' && entry.action === 'keep',
    })),
    ...pruned.map(({ worktree: { name, path }, action, reasons }) => ({
      ...{ name, path, action, reasons },
      isMemory: false,
    })),
  ];
  return { worktrees, notes: [...staleLockNotes(place), ...(await hookNotes(place))] };
}

function refuseReadOnly({ repository: { commonDirectory } }: WorktreePlace): void {
  try {
    accessSync(commonDirectory, constants.W_OK);
  } catch (error) {
    throw new UserMistake(
      'read_only_repository',
      `${commonDirectory} cannot be written (${systemCode(error)}), so nothing is removed: make it writable, or use --dry-run to list what would be removed`,
    );
  }
}

export type RemovedWorktree =
  | {
      name: string;
      removed: true;
      branch: { name: string; state: 'deleted' | 'kept' | 'none' } | null;
      /** The ref that has its work, and the directory with folders that no commit can hold. */
      savedRef: string | null;
      keptFolder: string | null;
    }
  /** What it holds, how to keep that, and what `force` does with it. */
  | { name: string; removed: false; refusal: string };

/**
 * One after the other, as they are asked for. A worktree with changes stays, unless `force` is set: then its files are
 * kept on a ref first. An unknown name is refused before any is removed.
 */
export async function* removeWorktrees(
  names: readonly string[],
  options: CallOptions & { force?: boolean } = {},
): AsyncGenerator<RemovedWorktree, void> {
  const force = options.force ?? false;
  using opened = await openPlace(callerOf(options));
  const { place } = opened;
  const worktrees = names.map((name) => findWorktree(place, name));
  for (const worktree of worktrees) yield await removeOne(place, worktree, force);
}

async function removeOne(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  force: boolean,
): Promise<RemovedWorktree> {
  refuseGone(worktree);
  refuseUnfinished(place.project, worktree);
  const { name, branch } = worktree;
  const removal = await removeWorktree(place, worktree, { force });
  if (!removal.removed)
    return { name, removed: false, refusal: refusedRemoval(worktree, removal.reasons, force) };
  return {
    ...{ name, removed: true, keptFolder: removal.keptFolder },
    branch: branch === null ? null : { name: branch, state: removal.branch },
    savedRef: removal.checkpoint?.commit ? removal.checkpoint.ref : null,
  };
}

function refuseGone({ state, name }: ManagedWorktree): void {
  if (state !== 'gone') return;
  throw new UserMistake(
    'worktree_gone',
    `the worktree ${name} is gone: its agent gets it back when it resumes`,
  );
}

/** Where it is, and the variables that its agent has. */
export async function enterWorktree(
  wanted: string,
  options: CallOptions = {},
): Promise<{ path: string; env: Readonly<Record<string, string>> }> {
  using opened = await openPlace(callerOf(options));
  const worktree = findWorktree(opened.place, wanted);
  refuseGone(worktree);
  refuseUnfinished(opened.place.project, worktree);
  return { path: worktree.path, env: worktreeEnvironment(opened.place, worktree) };
}

export interface CommittedWorktree {
  commit: string;
  files: number;
  /** Null when its HEAD is on none. */
  branch: string | null;
  /** What could not be committed, one line each. */
  leftOut: string[];
}

/** Commits everything in one in the name of its agent. Throws when there is nothing, and while an agent works there. */
export async function commitWorktree(
  wanted: string,
  options: CallOptions & { message?: string | undefined } = {},
): Promise<CommittedWorktree> {
  using opened = await openPlace(callerOf(options));
  const worktree = findWorktree(opened.place, wanted);
  refuseGone(worktree);
  const { commitFiles } = await import('./commit-worktree.ts');
  const { leftOut, repaired, ...made } = await commitFiles(opened.place, worktree, options.message);
  return { ...made, leftOut: [...leftOutText(leftOut), ...repaired] };
}

/** Everything that it has beyond its base, committed or not, new files included: a diff in git's format. */
export async function diffWorktree(
  wanted: string,
  { stat = false, ...options }: CallOptions & { stat?: boolean } = {},
): Promise<string> {
  using opened = await openPlace(callerOf(options));
  const worktree = findWorktree(opened.place, wanted);
  refuseUnfinished(opened.place.project, worktree);
  const { worktreeDiff } = await import('./worktree-diff.ts');
  return await worktreeDiff(opened.place, worktree, { stat });
}
