/**
 * A working tree of the queue's own, detached and outside the repository: for checks, and for a resolver. It is made
 * once and used again; what is ignored there (installed packages, build caches) stays between uses.
 *
 * Invariants
 * 1. Registration happens under the repository's lock; the slow check-out happens outside of it.
 * 2. Before each use it is exactly the commit: no changed, no untracked file.
 * 3. One that a killed process left half made is made again, and the lock that a killed git left in it is removed.
 */
import { existsSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { makePrivateDirectory } from '../../system/home.ts';
import { replaceWhole } from '../../system/replace-whole.ts';
import { readHead } from '../read-refs.ts';
import { withRepositoryLock } from '../repository-lock.ts';
import { type GitCall, type GitOutcome, gitText, runGit } from '../run-git.ts';
import { proveByFiles } from '../worktrees/prove-worktree.ts';
import { linkedGitDirectory } from './branch-checkouts.ts';
import { callIn, callToTheEnd, type MergeRepository } from './merge-repository.ts';
import { withNotedLocks } from './noted-locks.ts';

/** The purpose under which everybody registers and removes worktrees. */
const WORKTREES_LOCK = 'worktrees';
/** Git compares every file with each of them. */
const FEW_PATHS = 24;
/** Files that say how git sees others. */
const RULES = /(?:^|\/)\.git[^/]*$/i;
/** In a line of `diff-tree`, as old or new mode. */
const SUBMODULE = /^:(?:160000 |\d+ 160000 )/;
const UNMERGED = /^(?:U|.U|AA|DD)/;

/** What a worktree is before its next use. The look may be under way still. */
export interface WorktreeLook {
  head: string;
  /** The paths that differ from `head`, ignored files apart; null if git cannot tell. Never fails. */
  changes: Promise<readonly string[] | null>;
}

/** Null if nothing can be told. Git looks at all files: ask beside other work, and only while nothing runs there. */
export function lookAtWorktree(directory: string, repository: MergeRepository): WorktreeLook | null {
  const known = knownDirectory(directory, repository);
  const head = known === null ? null : readHead(known, repository.commonDirectory);
  if (head === null) return null;
  const call = { ...callIn(repository), cwd: directory };
  const args = ['status', '--porcelain', '-z', '--untracked-files=normal', '--ignore-submodules=none'];
  const changes = runGit([...args, '--no-renames'], call).then(changedIn, () => null);
  return { head: head.commit, changes };
}

function changedIn({ code, stdout }: GitOutcome): string[] | null {
  const lines = stdout.split('\0').filter((line) => line !== '');
  return code !== 0 || lines.some((line) => UNMERGED.test(line)) ? null : lines.map((line) => line.slice(3));
}

/** Brings the worktree at `directory` to `commit`. Nothing has run there since `look` began. */
export async function openPrivateWorktree(
  directory: string,
  commit: string,
  repository: MergeRepository,
  look: WorktreeLook | null = null,
): Promise<void> {
  const call = { ...callIn(repository), cwd: directory };
  const known = knownDirectory(directory, repository);
  if (look !== null && known !== null) {
    const steps = () => step(known, look, commit, call);
    if (await withIndexNoted(directory, repository, steps)) return;
  }
  if (known !== null) replaceWhole(join(known, 'HEAD'), `${commit}\n`);
  else {
    if (!(await isUsable(directory, repository))) await register(directory, commit, repository);
    await runGit(['update-ref', '--no-deref', 'HEAD', commit], call);
  }
  const readTree = () => gitText(['read-tree', '--reset', '-u', commit], call);
  await withIndexNoted(directory, repository, readTree);
  await gitText(['clean', '-ffdq'], call);
}

/** If this process is killed while a git holds the index, the next one knows whose lock it is. */
async function withIndexNoted<Result>(
  directory: string,
  { commonDirectory }: MergeRepository,
  work: () => Promise<Result>,
): Promise<Result> {
  const own = linkedGitDirectory(directory);
  if (own === null) return work();
  return withNotedLocks(commonDirectory, [relative(commonDirectory, join(own, 'index'))], work);
}

/** Changes only the files that differ. False if the worktree is not, or may not be, exactly the commit then. */
async function step(
  gitDirectory: string,
  { head, changes }: WorktreeLook,
  commit: string,
  call: GitCall,
): Promise<boolean> {
  const paths = await fewPlainPaths([head, commit], call);
  if (paths === null && (await changes)?.length !== 0) return false;
  replaceWhole(join(gitDirectory, 'HEAD'), `${commit}\n`);
  if (paths === null) return stepByTree([head, commit], call);
  // These paths become those of the commit whatever they were, so the look at all others need not be over.
  const [isWritten, left] = await Promise.all([writePaths(paths, commit, call), changes]);
  return isWritten && left?.every((path) => paths.includes(path)) === true;
}

/** What differs; null for much, and for what changes how git sees other files. */
async function fewPlainPaths([from, to]: readonly [string, string], call: GitCall): Promise<string[] | null> {
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--ignore-submodules=none', from, to];
  const { code, stdout } = await runGit(args, call);
  const fields = stdout.split('\0').slice(0, -1);
  const paths = fields.filter((_, index) => index % 2 === 1);
  const isOther = paths.some((path) => RULES.test(path)) || fields.some((field) => SUBMODULE.test(field));
  return code !== 0 || paths.length > FEW_PATHS || isOther ? null : paths;
}

/** Unlike a tree that is read, it costs no look at all other trees. */
async function writePaths(paths: readonly string[], commit: string, call: GitCall): Promise<boolean> {
  if (paths.length === 0) return true;
  const args = ['--literal-pathspecs', 'restore', `--source=${commit}`, '--staged', '--worktree'];
  const input = paths.map((path) => `${path}\0`).join('');
  const { code } = await runGit([...args, '--pathspec-from-file=-', '--pathspec-file-nul'], {
    ...call,
    input,
  });
  return code === 0;
}

async function stepByTree([from, to]: readonly [string, string], call: GitCall): Promise<boolean> {
  const [rules, tree] = await Promise.all([
    runGit(['diff-tree', '-r', '--name-only', from, to, '--', ':(glob)**/.gitignore'], call),
    runGit(['read-tree', '-m', '-u', from, to], call),
  ]);
  if (tree.code !== 0) return false;
  // Files that were ignored may not be any more.
  if (rules.code !== 0 || rules.stdout !== '') await gitText(['clean', '-ffdq'], call);
  return true;
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
