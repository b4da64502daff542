/**
 * Worktrees that Ramet made and that this registry does not know: the index was removed, the repository moved, or they
 * belong to another `$RAMET_HOME`. They are told of and never touched: whose they are is not known here.
 */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readOrNull } from '../repository.ts';
import { isLockOurs } from './register-worktree.ts';
import type { WorktreePlace } from './worktree-place.ts';

export interface LostWorktree {
  path: string;
  /** Null when it is on none. */
  branch: string | null;
}

export function lostWorktrees(place: WorktreePlace): LostWorktree[] {
  const directory = join(place.repository.commonDirectory, 'worktrees');
  const known = new Set(place.registry.list().map(({ admin }) => admin));
  const names = existsSync(directory) ? readdirSync(directory) : [];
  return names
    .filter((admin) => !known.has(admin) && isLockOurs(place, { admin }) === true)
    .map((admin) => ({
      path: dirname(readOrNull(join(directory, admin, 'gitdir'))?.trimEnd() ?? ''),
      branch: /^ref: refs\/heads\/(.+)$/m.exec(readOrNull(join(directory, admin, 'HEAD')) ?? '')?.[1] ?? null,
    }));
}
