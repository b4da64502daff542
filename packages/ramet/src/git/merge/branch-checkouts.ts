/** Where branches are checked out, read from files: no process is started. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readOrNull, readPointer } from '../repository.ts';
import type { MergeRepository } from './merge-repository.ts';

/** The branch that HEAD is on in this working tree; null when it is detached. */
export function currentBranch({ cwd, commonDirectory }: MergeRepository): string | null {
  return branchIn(linkedGitDirectory(cwd) ?? commonDirectory)?.replace(/^refs\/heads\//, '') ?? null;
}

export interface BranchCheckout {
  /** The top of the working tree. */
  directory: string;
  gitDirectory: string;
  /** A rebase or bisect is under way there, which will come back to the branch. */
  isBusy: boolean;
}

/** Every working tree that has a branch checked out, or will come back to it. */
export function checkoutsOf(ref: string, repository: MergeRepository): BranchCheckout[] {
  return [...mainCheckout(repository), ...linkedCheckouts(repository)].flatMap(
    ([gitDirectory, directory]) => {
      const held = operationBranch(gitDirectory);
      if (branchIn(gitDirectory) !== ref && held !== ref) return [];
      return [{ directory, gitDirectory, isBusy: held !== null }];
    },
  );
}

type CheckoutPlace = readonly [gitDirectory: string, directory: string];

/** None for a bare repository. A submodule's and a separate git directory lie elsewhere than their files. */
function mainCheckout({ cwd, commonDirectory }: MergeRepository): CheckoutPlace[] {
  const config = readOrNull(join(commonDirectory, 'config')) ?? '';
  if (/^\s*bare\s*=\s*true/im.test(config)) return [];
  const named = /^\s*worktree\s*=\s*(.+?)\s*$/im.exec(config)?.[1];
  if (named !== undefined) return [[commonDirectory, resolve(commonDirectory, named)]];
  const isHere = linkedGitDirectory(cwd) === commonDirectory || basename(commonDirectory) !== '.git';
  return [[commonDirectory, isHere ? cwd : dirname(commonDirectory)]];
}

/** Without those whose files are gone for good; a locked one may come back. */
function linkedCheckouts({ commonDirectory }: MergeRepository): CheckoutPlace[] {
  return entriesOf(join(commonDirectory, 'worktrees')).flatMap((name): CheckoutPlace[] => {
    const gitDirectory = join(commonDirectory, 'worktrees', name);
    const link = readPointer(join(gitDirectory, 'gitdir'))?.trimEnd();
    if (link === undefined) return [];
    const file = resolve(gitDirectory, link);
    const isGone = !existsSync(file) && !existsSync(join(gitDirectory, 'locked'));
    return isGone ? [] : [[gitDirectory, dirname(file)]];
  });
}

/** A branch that a rebase or bisect left for a while. */
function operationBranch(gitDirectory: string): string | null {
  const rebased = ['rebase-merge', 'rebase-apply'].map((name) =>
    readPointer(join(gitDirectory, name, 'head-name')),
  );
  const bisected = readPointer(join(gitDirectory, 'BISECT_START'))?.trim();
  const name = rebased.find((text) => text !== null)?.trim() ?? bisected;
  if (name === undefined) return null;
  return name.startsWith('refs/') ? name : `refs/heads/${name}`;
}

function branchIn(gitDirectory: string): string | null {
  const head = readPointer(join(gitDirectory, 'HEAD')) ?? '';
  return /^ref: (refs\/heads\/.+)$/m.exec(head)?.[1]?.trimEnd() ?? null;
}

/** The git directory that a working tree's `.git` file names; null where `.git` is a directory or nothing. */
export function linkedGitDirectory(root: string): string | null {
  const link = /^gitdir: (.+)$/m.exec(readPointer(join(root, '.git')) ?? '')?.[1];
  return link === undefined ? null : resolve(root, link.trimEnd());
}

function entriesOf(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
