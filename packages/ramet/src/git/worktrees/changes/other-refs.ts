/** Which refs besides a worktree's own branch lead to a commit, and so keep it. */
import { gitDirectoryOf, readHead, readRef } from '../../read-refs.ts';
import { gitText } from '../../run-git.ts';
import type { WorktreePlace } from '../worktree-place.ts';

/**
 * Whether a branch, tag or remote branch leads to a commit. Its own branch does not count, nor what is ours and may
 * move or go at any time, nor stashes. One walk from the commit, however many refs there are. Throws when git cannot tell.
 */
export async function isOnAnotherRef(
  place: WorktreePlace,
  branch: string | null,
  tip: string,
): Promise<boolean> {
  if (isCheckedOutTip(place, branch, tip)) return true;
  // `--exclude` holds for the next option alone, and takes the name as that one sees it.
  const passing = [...passingBranches(place), ...(branch === null ? [] : [branch])];
  const own = passing.map((name) => `--exclude=${name}`);
  const args = ['rev-list', '--max-count=1', tip, '--not', ...own, '--branches', '--tags', '--remotes', '--'];
  return (await gitText(args, { cwd: place.repository.root, env: place.env })) === '';
}

/**
 * Branches of worktrees that are still where they began, also those that hooks made for them: that of a reviewer, say, at the commit it judges. They go with their
 * worktrees, so they keep no commit of another.
 */
function passingBranches({ registry, repository }: WorktreePlace): string[] {
  return registry.list().flatMap(({ state, branch, base, facts: { hook } }) => {
    if (state === 'gone') return [];
    const names = [branch ?? [], hook?.isNewBranch === true ? (hook.branch ?? []) : []].flat();
    return names.filter((name) => readRef(repository.commonDirectory, `refs/heads/${name}`) === base);
  });
}

/** Whether a ref of ours that is no branch leads to a commit. Throws when git cannot tell. */
export async function isOnOwnRef(place: WorktreePlace, tip: string): Promise<boolean> {
  const args = ['rev-list', '--max-count=1', tip, '--not', '--glob=refs/ramet', '--'];
  return (await gitText(args, { cwd: place.repository.root, env: place.env })) === '';
}

/** Of the tips of several branches: those to which only these branches lead. As above, in one walk. */
export async function onNoOtherRef(
  place: WorktreePlace,
  tips: readonly { branch: string; tip: string }[],
): Promise<ReadonlySet<string>> {
  const passing = [...passingBranches(place), ...tips.map(({ branch }) => branch)];
  const own = passing.map((name) => `--exclude=${name}`);
  const commits = tips.map(({ tip }) => tip);
  const args = ['rev-list', ...commits, '--not', ...own, '--branches', '--tags', '--remotes', '--'];
  return new Set((await gitText(args, { cwd: place.repository.root, env: place.env })).split('\n'));
}

/** The usual case, without a process: the asking checkout's branch is at this very commit. */
function isCheckedOutTip({ repository }: WorktreePlace, branch: string | null, tip: string): boolean {
  const { root, commonDirectory } = repository;
  const head = readHead(gitDirectoryOf(root) ?? commonDirectory, commonDirectory);
  return head?.commit === tip && head.ref !== null && head.ref !== `refs/heads/${branch}`;
}
