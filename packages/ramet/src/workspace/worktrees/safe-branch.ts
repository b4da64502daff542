/** Deletes branches of ours that nothing depends on. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readRef } from '../git/read-refs.ts';
import { runGit } from '../git/run-git.ts';
import { readOrNull } from '../repository.ts';
import { withRepositoryLock } from '../repository-lock.ts';
import { isOnAnotherRef } from './held-commits.ts';
import type { WorktreePlace } from './worktree-place.ts';

/**
 * Looks and deletes under one lock: of two branches at one commit, each the reason why the other may go, one stays.
 * `kept` when only this branch leads to its tip, when somebody is on it, or that could not be told.
 */
export async function deleteSafeBranch(
  place: WorktreePlace,
  branch: string,
): Promise<'deleted' | 'kept' | 'none'> {
  const { repository } = place;
  const ref = `refs/heads/${branch}`;
  return withRepositoryLock(repository, 'branches', async () => {
    const tip = readRef(repository.commonDirectory, ref) ?? (await askedTip(place, ref));
    if (tip === null) return 'none';
    const isSafe = await isOnAnotherRef(place, branch, tip).catch(() => false);
    return isSafe && (await deleteAt(place, branch, tip)) ? 'deleted' : 'kept';
  });
}

/** Deletes a branch that was just made and that nobody has used, wherever else its commit is. */
export async function deleteFreshBranch(place: WorktreePlace, branch: string, base: string): Promise<void> {
  if (readRef(place.repository.commonDirectory, `refs/heads/${branch}`) !== base) return;
  await withRepositoryLock(place.repository, 'branches', () => deleteAt(place, branch, base));
}

/** False when it has moved, or somebody is on it. */
async function deleteAt(place: WorktreePlace, branch: string, tip: string): Promise<boolean> {
  if (isCheckedOut(place, branch) || isLeased(place, branch)) return false;
  const { repository, env } = place;
  const remove = ['-c', 'core.packedRefsTimeout=10000', 'update-ref', '-d', `refs/heads/${branch}`, tip];
  return (await runGit(remove, { cwd: repository.root, env })).code === 0;
}

/** `update-ref` would delete it under the feet of whoever is on it. */
function isCheckedOut({ repository: { commonDirectory } }: WorktreePlace, branch: string): boolean {
  const worktrees = join(commonDirectory, 'worktrees');
  const names = existsSync(worktrees) ? readdirSync(worktrees) : [];
  const places = [commonDirectory, ...names.map((name) => join(worktrees, name))];
  return places.some((place) => readOrNull(join(place, 'HEAD'))?.trimEnd() === `ref: refs/heads/${branch}`);
}

function isLeased({ registry }: WorktreePlace, branch: string): boolean {
  return registry
    .list()
    .some((row) => row.branch === branch && (row.state === 'leased' || row.state === 'released'));
}

async function askedTip({ repository, env }: WorktreePlace, ref: string): Promise<string | null> {
  const { code, stdout } = await runGit(['rev-parse', '--verify', '--quiet', ref], {
    cwd: repository.root,
    env,
  });
  return code === 0 ? stdout.trim() : null;
}
