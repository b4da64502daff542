/**
 * Makes a worktree known to git and unknown again. The five small files are written by us and moved into place as
 * one directory: `git worktree add` takes three times as long, and others that read it half-made fail (`commondir`).
 * Where refs are not kept in files, git does it.
 *
 * Invariants
 * 1. A worktree is locked from its first moment: nobody's `git worktree prune` takes it.
 * 2. The branch is made by compare-and-swap: one that exists is never moved, nor counted as ours.
 */
import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { systemCode } from '../../schema/errors.ts';
import { makePrivateDirectory } from '../../system/home.ts';
import { replaceWhole } from '../../system/replace-whole.ts';
import { createBranch, keepsRefsInFiles } from '../create-branch.ts';
import { readPointer } from '../repository.ts';
import { withRepositoryLock } from '../repository-lock.ts';
import { gitText } from '../run-git.ts';
import type { ManagedWorktree } from './worktree.ts';
import { adminDirectory, type WorktreePlace } from './worktree-place.ts';

/** One mutex around everything that makes and removes registrations. */
const LOCK = 'worktrees';
const LOCK_REASON = 'made by ramet';
/** Registrations that we named: their names are never given again. */
const OUR_ADMINS = 'ramet-';
/** Working trees of the merge queue are ours too. */
const OUR_REASONS = [`${LOCK_REASON}: `, 'ramet merge uses '];

export async function registerWorktree(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  { signal, hasBranch = false }: { signal?: AbortSignal | undefined; hasBranch?: boolean } = {},
): Promise<void> {
  const register = async (): Promise<void> => {
    if (worktree.branch !== null && !hasBranch)
      await createBranch(place.repository, place.env, { branch: worktree.branch, commit: worktree.base });
    place.onStep('branch made');
    if (keepsRefsInFiles(place.repository)) writeRegistration(place, worktree);
    else await addByGit(place, worktree);
  };
  await withRepositoryLock(place.repository, LOCK, register, { signal });
}

function writeRegistration(place: WorktreePlace, worktree: ManagedWorktree): void {
  const { commonDirectory } = place.repository;
  const admin = adminDirectory(place, worktree);
  const aside = join(commonDirectory, 'ramet', `new-${worktree.admin}`);
  mkdirSync(aside, { recursive: true });
  writeFileSync(join(aside, 'locked'), lockText(worktree));
  writeFileSync(join(aside, 'commondir'), '../..\n');
  writeFileSync(join(aside, 'gitdir'), `${join(worktree.path, '.git')}\n`);
  writeFileSync(join(aside, 'HEAD'), headText(worktree));
  mkdirSync(join(commonDirectory, 'worktrees'), { recursive: true });
  makePrivateDirectory(dirname(worktree.path));
  // Not one that exists already: it would belong to another.
  mkdirSync(worktree.path);
  writeFileSync(join(worktree.path, '.git'), `gitdir: ${admin}\n`);
  place.onStep('directory made');
  renameSync(aside, admin);
  place.onStep('registered');
}

async function addByGit(place: WorktreePlace, { path, branch, base, id }: ManagedWorktree): Promise<void> {
  const options = ['--no-checkout', '--lock', '--reason', `${LOCK_REASON}: ${id}`];
  const what = branch === null ? ['--detach', path, base] : [path, branch];
  await gitText(['worktree', 'add', ...options, ...what], { cwd: place.repository.root, env: place.env });
}

export function lockText({ id }: Pick<ManagedWorktree, 'id'>): string {
  return `${LOCK_REASON}: ${id}\n`;
}

export function headText({ branch, base }: Pick<ManagedWorktree, 'branch' | 'base'>): string {
  return branch === null ? `${base}\n` : `ref: refs/heads/${branch}\n`;
}

/** Puts a small file of a registration in place in one step. */
export function replaceAdminFile(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  name: 'HEAD' | 'gitdir',
  text: string,
): void {
  replaceWhole(join(adminDirectory(place, worktree), name), text);
}

/** Whether the lock on it is ours; null without a lock, or if it cannot be read. */
export function isLockOurs(place: WorktreePlace, worktree: Pick<ManagedWorktree, 'admin'>): boolean | null {
  const text = readPointer(join(adminDirectory(place, worktree), 'locked'));
  return text === null ? null : OUR_REASONS.some((reason) => text.startsWith(reason));
}

/**
 * Makes git forget it. Nothing happens where it is not known (any more): names that git chose are given to others again, so there
 * its path counts.
 */
export async function unregisterWorktree(
  place: WorktreePlace,
  worktree: Pick<ManagedWorktree, 'admin' | 'path'>,
): Promise<void> {
  await withRepositoryLock(place.repository, LOCK, () => {
    const isOurs = worktree.admin.startsWith(OUR_ADMINS);
    if (!isOurs && !leadsBack(adminDirectory(place, worktree), worktree.path)) return;
    const { commonDirectory } = place.repository;
    const aside = join(commonDirectory, 'ramet', `old-${worktree.admin}`);
    rmSync(join(commonDirectory, 'ramet', `new-${worktree.admin}`), { recursive: true, force: true });
    try {
      renameSync(adminDirectory(place, worktree), aside);
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error;
    }
    rmSync(aside, { recursive: true, force: true });
    removeIfEmpty(join(commonDirectory, 'worktrees'));
  });
}

/** Whether a registration is of the directory at `path`. */
export function leadsBack(admin: string, path: string): boolean {
  const text = readPointer(join(admin, 'gitdir'))?.trimEnd();
  return text !== undefined && resolve(admin, text) === join(path, '.git');
}

/** Whether a directory is this worktree's, by what its `.git` says. */
export function isTreeOf(directory: string, { admin }: Pick<ManagedWorktree, 'admin'>): boolean {
  const target = readPointer(join(directory, '.git'))?.trimEnd();
  return target?.startsWith('gitdir: ') === true && basename(target) === admin;
}

export function removeIfEmpty(directory: string): void {
  try {
    if (readdirSync(directory).length === 0) rmdirSync(directory);
  } catch {
    // Another process was faster, in one way or the other.
  }
}
