/**
 * Restores a worktree whose directory was deleted for its agent, from the last checkpoint. Its
 * branch and base stay what they were; a branch that is gone too begins where the checkpoint does.
 */
import { existsSync } from 'node:fs';
import { thisProcess } from '../../system/processes/process-identity.ts';
import { gitText, runGit } from '../run-git.ts';
import { checkpointRef } from './changes/checkpoint.ts';
import type { CreatedWorktree } from './create-worktree.ts';
import { isHeld } from './half-made.ts';
import { unregisterWorktree } from './register-worktree.ts';
import { existingBranch, resumeWorktree } from './resume-worktree.ts';
import { trustedGit } from './trusted-git.ts';
import type { ManagedWorktree } from './worktree.ts';
import type { WorktreePlace } from './worktree-place.ts';

export interface RecoveredWorktree {
  created: CreatedWorktree;
  /** The checkpoint its files are from; null when none says more than its branch. */
  checkpoint: string | null;
  /** Its branch was gone as well. */
  hadNoBranch: boolean;
}

/** Null when its directory exists, or we removed it: `resumeWorktree` handles both. */
export async function recoverWorktree(
  place: WorktreePlace,
  id: string,
  signal?: AbortSignal,
): Promise<RecoveredWorktree | null> {
  const known = place.registry.find(id);
  if (known === null || (known.state !== 'leased' && known.state !== 'released')) return null;
  if (existsSync(known.path) || isUsed(place, known)) return null;
  if (place.registry.change(id, [known.state], { state: 'gone', lease: null }) === null) return null;
  await unregisterWorktree(place, known);
  const hadNoBranch = known.branch !== null && (await existingBranch(place, known.branch)) === null;
  const created = await resumeWorktree(place, id, signal, await tipOfCheckpoint(place, known));
  const worktree = place.registry.change(id, ['leased'], { base: known.base }) ?? created.worktree;
  const checkpoint = await putBack(place, worktree);
  return { created: { ...created, worktree }, checkpoint, hadNoBranch };
}

/** The commit on which its last checkpoint stands: it leads to what its branch led to. */
async function tipOfCheckpoint(
  { repository, env }: WorktreePlace,
  worktree: ManagedWorktree,
): Promise<string | null> {
  const args = ['rev-parse', '--verify', '--quiet', `${checkpointRef(worktree)}^1`];
  const { code, stdout } = await runGit(args, { cwd: repository.root, env });
  return code === 0 ? stdout.trim() : null;
}

function isUsed({ project }: WorktreePlace, worktree: ManagedWorktree): boolean {
  const { pid, started } = thisProcess();
  const isOwn = worktree.lease?.pid === pid && worktree.lease.started === started;
  return !isOwn && isHeld(project, worktree);
}

/** A checkpoint that is older than the branch's last commit is left where it is. */
async function putBack(place: WorktreePlace, worktree: ManagedWorktree): Promise<string | null> {
  const call = await trustedGit(place, worktree);
  const ref = checkpointRef(worktree);
  const args = ['rev-parse', '--verify', '--quiet', ref];
  const { code, stdout } = await runGit(args, call);
  if (code !== 0) return null;
  const commit = stdout.trim();
  const [parent, head] = (await gitText(['rev-parse', `${commit}^1`, 'HEAD'], call)).split('\n');
  if (parent !== head) return null;
  await gitText(['read-tree', '-m', '-u', 'HEAD', commit], call);
  const staged = await runGit(['rev-parse', '--verify', '--quiet', `${commit}^2`], call);
  await gitText(['read-tree', '-m', staged.code === 0 ? staged.stdout.trim() : 'HEAD'], call);
  await runGit(['update-index', '-q', '--refresh'], call);
  return commit;
}
