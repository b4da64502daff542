/** Whose a branch is, seen from the worktree of an agent: read from files, no process is started. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isMadeIn } from './branch-origin.ts';
import { gitDirectoryOf, headRef, readRef } from './read-refs.ts';
import { findRepository } from './repository.ts';

/**
 * `others`: the user's, or one that another checkout is on. `own`: the worktree is on it, or nobody is and it is
 * an agent's or was made in this worktree. `absent`: nobody has it. `unknown`: refs are not in files here.
 */
export type BranchHolder = 'own' | 'others' | 'absent' | 'unknown';

const OF_AGENTS = 'ramet/';

export function branchHolder(root: string, branch: string): BranchHolder {
  const found = findRepository(root);
  const gitDirectory = gitDirectoryOf(root);
  if (found === null || gitDirectory === null) return 'unknown';
  const { commonDirectory } = found;
  const ref = `refs/heads/${branch}`;
  if (otherHeads(commonDirectory, gitDirectory).includes(ref)) return 'others';
  if (headRef(gitDirectory) === ref) return 'own';
  if (readRef(commonDirectory, ref) !== null) {
    const isOwn = branch.startsWith(OF_AGENTS) || isMadeIn(gitDirectory, commonDirectory, branch);
    return isOwn ? 'own' : 'others';
  }
  return isInFiles(commonDirectory) || branch.startsWith(OF_AGENTS) ? 'absent' : 'unknown';
}

/** The branch that the worktree and another checkout are both on: git does that only if it is forced to. */
export function branchHeldTwice(root: string): string | null {
  const found = findRepository(root);
  const gitDirectory = gitDirectoryOf(root);
  const ref = gitDirectory === null ? null : headRef(gitDirectory);
  if (found === null || gitDirectory === null || ref === null) return null;
  return otherHeads(found.commonDirectory, gitDirectory).includes(ref)
    ? ref.replace(/^refs\/heads\//, '')
    : null;
}

function otherHeads(commonDirectory: string, own: string): string[] {
  const linked = join(commonDirectory, 'worktrees');
  const directories = [commonDirectory, ...namesIn(linked).map((name) => join(linked, name))];
  return directories.flatMap((directory) => (directory === own ? [] : (headRef(directory) ?? [])));
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** With another storage of refs HEAD names no branch that can exist. */
function isInFiles(commonDirectory: string): boolean {
  return !namesIn(commonDirectory).includes('reftable');
}
