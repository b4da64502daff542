/**
 * A working tree of the queue's own, detached and outside the repository: for checks, and for a resolver. It is made
 * once and used again; what is ignored there (installed packages, build caches) stays between uses.
 *
 * Invariants
 * 1. Registration happens under the repository's lock; the slow check-out happens outside of it.
 * 2. Before each use it is exactly the commit: no changed, no untracked file.
 * 3. One that a killed process left half made is made again.
 */
import { existsSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makePrivateDirectory } from '../../system/home.ts';
import { replaceWhole } from '../../system/replace-whole.ts';
import { readHead } from '../read-refs.ts';
import { withRepositoryLock } from '../repository-lock.ts';
import { gitText, runGit } from '../run-git.ts';
import { proveByFiles } from '../worktrees/prove-worktree.ts';
import { linkedGitDirectory } from './branch-checkouts.ts';
import { callIn, callToTheEnd, type MergeRepository } from './merge-repository.ts';

/** The purpose under which everybody registers and removes worktrees. */
const WORKTREES_LOCK = 'worktrees';

/** Brings the worktree at `directory` to `commit`. */
export async function openPrivateWorktree(
  directory: string,
  commit: string,
  repository: MergeRepository,
): Promise<void> {
  const call = { ...callIn(repository), cwd: directory };
  const known = knownDirectory(directory, repository);
  if (known !== null) replaceWhole(join(known, 'HEAD'), `${commit}\n`);
  else {
    if (!(await isUsable(directory, repository))) await register(directory, commit, repository);
    await runGit(['update-ref', '--no-deref', 'HEAD', commit], call);
  }
  await gitText(['read-tree', '--reset', '-u', commit], call);
  await gitText(['clean', '-ffdq'], call);
}

/** Its git directory, if files show all that git would tell, and HEAD is on no branch; otherwise null. */
function knownDirectory(directory: string, { cwd, commonDirectory, env }: MergeRepository): string | null {
  const own = linkedGitDirectory(directory);
  if (own === null || existsSync(join(own, 'index.lock'))) return null;
  const head = readHead(own, commonDirectory);
  if (head === null || head.ref !== null) return null;
  const worktree = { path: directory, admin: basename(own), branch: null, base: head.commit };
  return proveByFiles({ root: cwd, commonDirectory }, worktree, env) === null ? null : own;
}

/** It must be a worktree of this very repository, and nobody may be left in the middle of changing its index. */
async function isUsable(directory: string, repository: MergeRepository): Promise<boolean> {
  const gitDirectory = linkedGitDirectory(directory);
  if (gitDirectory === null) return false;
  if (['index', 'HEAD'].some((name) => existsSync(`${gitDirectory}/${name}.lock`))) return false;
  const call = { ...callIn(repository), cwd: directory };
  const { code, stdout } = await runGit(['rev-parse', '--show-toplevel', '--git-common-dir'], call);
  return code === 0 && stdout.split('\n')[0] === directory;
}

async function register(directory: string, commit: string, repository: MergeRepository): Promise<void> {
  makePrivateDirectory(dirname(directory));
  const options = [
    '--detach',
    '--no-checkout',
    '--lock',
    '--reason',
    `ramet merge uses ${basename(directory)}`,
  ];
  await withRepositoryLock(repository, WORKTREES_LOCK, () => forget(directory, repository), repository);
  rmSync(directory, { recursive: true, force: true });
  // Twice forced: one that is still registered for this path, and locked, is replaced.
  const args = ['worktree', 'add', '-f', '-f', ...options, directory, commit];
  await withRepositoryLock(
    repository,
    WORKTREES_LOCK,
    () => gitText(args, callToTheEnd(repository)),
    repository,
  );
}

/** Removes the worktree and its registration; what was never there is no failure. */
export async function removePrivateWorktree(directory: string, repository: MergeRepository): Promise<void> {
  await withRepositoryLock(repository, WORKTREES_LOCK, () => forget(directory, repository), repository);
  rmSync(directory, { recursive: true, force: true });
}

async function forget(directory: string, repository: MergeRepository): Promise<void> {
  await runGit(['worktree', 'remove', '-f', '-f', directory], callToTheEnd(repository));
}
