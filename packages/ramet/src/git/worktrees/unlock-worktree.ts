/** What a killed git has locked in a worktree that nobody else holds: its index, its HEAD, its branch, its checkpoints. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { removeLeftLocks } from '../left-locks.ts';
import { checkpointRef } from './changes/checkpoint.ts';
import { SCRATCH } from './scratch-index.ts';
import type { ManagedWorktree } from './worktree.ts';
import { adminDirectory, type WorktreePlace } from './worktree-place.ts';

/** Only for those who have just taken it over, or found that nobody works there. */
export async function unlockWorktree(place: WorktreePlace, worktree: ManagedWorktree): Promise<void> {
  const admin = adminDirectory(place, worktree);
  const { commonDirectory } = place.repository;
  const refs = [
    checkpointRef(worktree),
    ...(worktree.branch === null ? [] : [`refs/heads/${worktree.branch}`]),
  ];
  const files = [join(admin, 'index'), join(admin, 'HEAD'), ...refs.map((ref) => join(commonDirectory, ref))];
  await removeLeftLocks(files, worktree.path);
  // Copies of its index that a killed process was about to use.
  for (const name of namesIn(admin))
    if (name.startsWith(SCRATCH)) rmSync(join(admin, name), { recursive: true, force: true });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // it is gone, as its proof will show
  }
}
