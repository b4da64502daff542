/** Deletes branches of ours that nothing depends on. */
import { readRef } from '../git/read-refs.ts';
import { runGit } from '../git/run-git.ts';
import { withRepositoryLock } from '../repository-lock.ts';
import { otherRefs } from './held-commits.ts';
import type { WorktreePlace } from './worktree-place.ts';

/**
 * Looks and deletes under one lock: of two branches at one commit, each the reason why the other may go, one stays.
 * `kept` when only this branch leads to its tip, or that could not be told.
 */
export async function deleteSafeBranch(
  place: WorktreePlace,
  branch: string,
): Promise<'deleted' | 'kept' | 'none'> {
  const { repository, env } = place;
  const ref = `refs/heads/${branch}`;
  return withRepositoryLock(repository, 'branches', async () => {
    const tip = readRef(repository.commonDirectory, ref) ?? (await askedTip(place, ref));
    if (tip === null) return 'none';
    const others = await otherRefs(place, branch, tip).catch(() => []);
    if (others.length === 0) return 'kept';
    const remove = ['-c', 'core.packedRefsTimeout=10000', 'update-ref', '-d', ref, tip];
    return (await runGit(remove, { cwd: repository.root, env })).code === 0 ? 'deleted' : 'kept';
  });
}

async function askedTip({ repository, env }: WorktreePlace, ref: string): Promise<string | null> {
  const { code, stdout } = await runGit(['rev-parse', '--verify', '--quiet', ref], {
    cwd: repository.root,
    env,
  });
  return code === 0 ? stdout.trim() : null;
}
