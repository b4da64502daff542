/** What a worktree has beyond its base, read without touching it. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkoutTrees, checkpointRef, excludeSettings, trustedGit } from '../../git/managed-worktrees.ts';
import { gitText, runGit } from '../../git/run-git.ts';
import type { ManagedWorktree, WorktreePlace } from '../../git/shapes.ts';

export async function worktreeDiff(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  { stat }: { stat: boolean },
): Promise<string> {
  const to = await latestTree(place, worktree);
  const options = ['--color=never', ...(stat ? ['--stat'] : [])];
  const call = { cwd: place.repository.root, env: place.env };
  const text = await gitText(['diff', ...options, worktree.base, to], call);
  return text === '' ? '' : `${text}\n`;
}

/** Its files as they are; where they are gone, what its branch has, or its last checkpoint. */
async function latestTree(place: WorktreePlace, worktree: ManagedWorktree): Promise<string> {
  if (!existsSync(worktree.path)) return lastCommit(place, worktree);
  const scratch = mkdtempSync(join(tmpdir(), 'ramet-diff-'));
  try {
    const settings = excludeSettings(place, worktree);
    return (await checkoutTrees(await trustedGit(place, worktree), { scratch, settings })).files;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** A branch that was merged may be gone too. */
async function lastCommit({ repository, env }: WorktreePlace, worktree: ManagedWorktree): Promise<string> {
  const { branch, base } = worktree;
  for (const ref of [...(branch === null ? [] : [`refs/heads/${branch}`]), checkpointRef(worktree)]) {
    const args = ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`];
    const { code, stdout } = await runGit(args, { cwd: repository.root, env });
    if (code === 0) return stdout.trim();
  }
  return base;
}
