/** The pattern `worktree`: each attempt in a worktree and on a branch of its own. */
import {
  adminDirectory,
  keepsRefsInFiles,
  readHead,
  replaceAdminFile,
  takeRepairs,
} from '../../../git/managed-worktrees.ts';
import { runGit } from '../../../git/run-git.ts';
import type { ManagedWorktree, WorktreePlace } from '../../../git/shapes.ts';
import type { AttemptOrder } from '../../../operator/run/ports.ts';
import { RametError, UserMistake } from '../../../schema/errors.ts';
import { giveWay } from '../../../system/give-way.ts';
import { commitFiles, type WorktreeCommit } from '../../worktrees/commit-worktree.ts';
import { findWorktree } from '../../worktrees/open-place.ts';
import type { AttemptObjection, AttemptPattern, AttemptSite, EndedAgent } from './attempt-pattern.ts';
import { changedPaths } from './changed-paths.ts';
import { notItsOwn } from './cloned-tip.ts';
import { nestedObjection, strayLinks } from './nested-repositories.ts';

/** Each attempt in a worktree that begins at the private ref, on a branch of its own. */
export function worktreePattern(place: WorktreePlace): AttemptPattern {
  return {
    isolation: 'worktree',
    prepare: async ({ attempt: { base } }) => ({
      ...{ isolation: 'worktree', needsSetup: true, ...(base !== null && { worktreeBase: base }) },
    }),
    async siteOf(_, agent): Promise<AttemptSite> {
      const worktree = ownWorktree(agent, place);
      return { branch: worktree?.branch ?? null, path: worktree?.path ?? null };
    },
    async collect(order, ended) {
      const work = await committedWork(order, ended, place).catch((error: unknown) => {
        if (error instanceof UserMistake && error.code === 'other_branch') detach(ended.id, place);
        throw error;
      });
      if (work === null || 'cause' in work) return work;
      return { ...work, branch: ownWorktree(ended.id, place)?.branch ?? null };
    },
    notes(_, { id }) {
      const worktree = ownWorktree(id, place);
      return worktree === null ? [] : takeRepairs(worktree);
    },
  };
}

/** Its files stay as they are. While it is on a branch of another, such as the target, that branch counts as checked out there. */
function detach(agent: string, place: WorktreePlace): void {
  const worktree = ownWorktree(agent, place);
  if (worktree === null || !keepsRefsInFiles(place.repository)) return;
  const head = readHead(adminDirectory(place, worktree), place.repository.commonDirectory);
  if (head !== null) replaceAdminFile(place, worktree, 'HEAD', `${head.commit}\n`);
}

function ownWorktree(agent: string, place: WorktreePlace): ManagedWorktree | null {
  try {
    return findWorktree(place, agent);
  } catch (error) {
    if (error instanceof UserMistake) return null;
    throw error;
  }
}

/** Commits what its agent left uncommitted. Null if its branch has nothing that its base has not. */
async function committedWork(
  { task, attempt }: AttemptOrder,
  { id, isKept }: Pick<EndedAgent, 'id' | 'isKept'>,
  place: WorktreePlace,
): Promise<{ commit: string; files: string[] } | AttemptObjection | null> {
  await giveWay();
  const worktree = findWorktree(place, id);
  const call = { cwd: place.repository.root, env: place.env };
  const made = isKept && worktree.state !== 'gone' ? await commitRest(place, worktree, task.title) : null;
  const base = attempt.base ?? worktree.base;
  const commit = made?.commit ?? (await tipOf(worktree.branch, call));
  // Without a branch it may be anywhere: commits of the user that are not merged would land with it.
  const led = made?.branch === null ? await notItsOwn(made.commit, { base, call }) : null;
  if (led !== null)
    return {
      cause: 'other_commits',
      message: `${led}, so its work was not taken: it is commit ${made?.commit}`,
    };
  const changes = commit === null || commit === base ? [] : await changedPaths(base, commit, call);
  const links = commit === null ? [] : await strayLinks(commit, changes, call);
  const nested = [...new Set([...(made?.leftOut ?? []), ...links])];
  if (nested.length > 0) return nestedObjection(nested);
  return commit === null || changes.length === 0 ? null : { commit, files: changes.map(({ path }) => path) };
}

async function tipOf(
  branch: string | null,
  call: { cwd: string; env: WorktreePlace['env'] },
): Promise<string | null> {
  if (branch === null) return null;
  const args = ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}^{commit}`];
  const { code, stdout } = await runGit(args, call);
  return code === 0 ? stdout.trim() : null;
}

/** Null if nothing was left to commit. */
async function commitRest(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  message: string,
): Promise<WorktreeCommit | null> {
  try {
    const commit = (): ReturnType<typeof commitFiles> => commitFiles(place, worktree, message);
    // A git that was killed is no reason to do the task again.
    const isPassing = (error: unknown): boolean =>
      error instanceof RametError && error.family === 'retryable';
    return await commit().catch((error: unknown) => {
      if (isPassing(error)) return commit();
      throw error;
    });
  } catch (error) {
    if (
      error instanceof UserMistake &&
      (error.code === 'nothing_to_commit' || error.code === 'worktree_gone')
    )
      return null;
    throw error;
  }
}
