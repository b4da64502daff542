/**
 * Worktrees that Ramet made and that this registry does not know: the index was removed, the repository moved, or they
 * belong to another `$RAMET_HOME`. One whose directory exists is reported and never touched: its owner is not known
 * here. One whose directory is gone is only a registration, which is locked, so that git itself never removes it.
 */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readPointer } from '../../repository.ts';
import { isCommitId } from '../../run-git.ts';
import { isOnAnotherRef } from '../changes/other-refs.ts';
import { isLockOurs, unregisterWorktree } from '../register-worktree.ts';
import type { WorktreePlace } from '../worktree-place.ts';
import { deleteSafeBranch } from './safe-branch.ts';

export interface LostWorktree {
  admin: string;
  path: string;
  /** Null when it is on none. */
  branch: string | null;
  /** Its directory is not there. */
  isGone: boolean;
}

export interface PrunedRegistration {
  worktree: { name: string; path: string };
  action: 'forget' | 'keep';
  reasons: string[];
}

/** A worktree that changes places is for a moment not where its registration says. */
const SECOND_LOOK_MS = 100;

export function lostWorktrees(place: WorktreePlace): LostWorktree[] {
  const directory = join(place.repository.commonDirectory, 'worktrees');
  const known = new Set(place.registry.list().map(({ admin }) => admin));
  const names = existsSync(directory) ? readdirSync(directory) : [];
  return names
    .filter((admin) => !known.has(admin) && isLockOurs(place, { admin }) === true)
    .map((admin) => {
      const entry = readPointer(join(directory, admin, 'gitdir'))?.trimEnd() ?? '';
      const head = readPointer(join(directory, admin, 'HEAD')) ?? '';
      const branch = /^ref: refs\/heads\/(.+)$/m.exec(head)?.[1] ?? null;
      return { admin, path: dirname(entry), branch, isGone: entry !== '' && !existsSync(dirname(entry)) };
    });
}

/** Makes git forget those whose directory is gone. A branch goes only when another ref leads to its tip. */
export async function pruneLost(place: WorktreePlace, dryRun: boolean): Promise<PrunedRegistration[]> {
  const first = lostWorktrees(place).filter(({ isGone }) => isGone);
  if (first.length === 0) return [];
  await sleep(SECOND_LOOK_MS);
  const seen = new Map(first.map(({ admin, path }) => [admin, path]));
  const lost = lostWorktrees(place).filter(({ admin, path, isGone }) => isGone && seen.get(admin) === path);
  const pruned: PrunedRegistration[] = [];
  for (const each of lost) pruned.push(await prune(place, each, dryRun));
  return pruned;
}

async function prune(place: WorktreePlace, lost: LostWorktree, dryRun: boolean): Promise<PrunedRegistration> {
  const { admin, path, branch } = lost;
  const worktree = { name: branch ?? admin, path };
  if (!(await isHeadSafe(place, lost))) {
    const text = `only this registration leads to its commits: git branch NAME $(cat ${join(place.repository.commonDirectory, 'worktrees', admin, 'HEAD')}) keeps them`;
    return { worktree, action: 'keep', reasons: [text] };
  }
  if (!dryRun) {
    await unregisterWorktree(place, { admin, path });
    if (branch !== null) await deleteSafeBranch(place, branch);
  }
  return { worktree, action: 'forget', reasons: [`${path} is gone, and git still knew it`] };
}

async function isHeadSafe(
  place: WorktreePlace,
  { admin, branch }: Pick<LostWorktree, 'admin' | 'branch'>,
): Promise<boolean> {
  if (branch !== null) return true;
  const head = readPointer(join(place.repository.commonDirectory, 'worktrees', admin, 'HEAD'))?.trim();
  return isCommitId(head) ? isOnAnotherRef(place, null, head).catch(() => false) : true;
}
