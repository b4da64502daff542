/** Gives worktrees back whose agents do not work any more: what holds no work is removed, and the rest stays. Loaded late. */
import { isHeld, settleWorktree, undoHalfMade } from '../../git/managed-worktrees.ts';
import type { WorktreePlace } from '../../git/shapes.ts';
import type { Caller } from '../calls/caller.ts';
import { openPlace } from './open-place.ts';

export async function settleWorktreesOf(place: WorktreePlace, agents: ReadonlySet<string>): Promise<void> {
  for (const row of place.registry.list()) {
    const isTheirs = row.owner !== null && agents.has(row.owner.agent);
    if (!isTheirs || (row.state !== 'leased' && row.state !== 'released')) continue;
    if (!isHeld(place.project, row)) await settleWorktree(place, row, { pools: false });
  }
}

/** Of agents whose process was killed before they began: nothing else knows of their worktrees. */
export async function clearUnbegun(
  caller: Pick<Caller, 'cwd' | 'env'>,
  agents: ReadonlySet<string>,
): Promise<void> {
  using opened = await openPlace(caller);
  await undoHalfMade(opened.place);
  await settleWorktreesOf(opened.place, agents);
}
