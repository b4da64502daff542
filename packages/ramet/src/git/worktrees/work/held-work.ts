/**
 * Files of a worktree that are work of its agent: what `held-files.ts` finds, less what was carried over from the
 * asking checkout and looks as it did then. That is the person's, and they have it.
 */
import { describeError } from '../../../schema/errors.ts';
import type { ManagedWorktree } from '../worktree.ts';
import { excludeSettings } from '../worktree-environment.ts';
import { adminDirectory, type WorktreePlace } from '../worktree-place.ts';
import { checkoutTrees } from './dirty-work.ts';
import { heldFiles } from './held-files.ts';
import type { VerdictKind, VerdictReason } from './verdict-reason.ts';

const CARRIED: ReadonlySet<VerdictKind> = new Set<VerdictKind>(['staged', 'changed', 'untracked']);

/** One that is called off says nothing of use. */
export async function heldWork(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  signal?: AbortSignal,
): Promise<VerdictReason[]> {
  const reasons = await heldFiles(place, worktree, signal);
  const { carried } = worktree.facts;
  if (carried === undefined || !reasons.some(({ kind }) => CARRIED.has(kind))) return reasons;
  try {
    const trees = await checkoutTrees(worktree.path, place.env, {
      scratch: adminDirectory(place, worktree),
      settings: excludeSettings(place, worktree),
    });
    const isUntouched = trees.files === carried.files && trees.staged === carried.staged;
    return isUntouched ? reasons.filter(({ kind }) => !CARRIED.has(kind)) : reasons;
  } catch (error) {
    return [...reasons, { kind: 'unknown', text: `its files could not be read: ${describeError(error)}` }];
  }
}
