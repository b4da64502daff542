/** What a process that was killed while it removed a worktree has left: finished, or taken back. */
import { existsSync, renameSync } from 'node:fs';
import { thisProcess } from '../../../system/processes/process-identity.ts';
import { isTreeOf } from '../register-worktree.ts';
import { heldWork } from '../work/held-work.ts';
import type { ManagedWorktree } from '../worktree.ts';
import type { WorktreePlace } from '../worktree-place.ts';
import { finishRemoval } from './remove-worktree.ts';

/** A tree that was judged and not yet moved is judged again, by whoever asks next. */
export async function finishTrashed(
  place: WorktreePlace,
  worktree: ManagedWorktree,
): Promise<['keep' | 'remove', string]> {
  const { elsewhere, ...facts } = worktree.facts;
  const mine = place.registry.changeSeen(worktree, { lease: thisProcess() });
  if (mine === null) return ['keep', 'somebody else is at it'];
  const isBack = existsSync(worktree.path) && isTreeOf(worktree.path, worktree);
  if (!isBack && elsewhere !== undefined && isTreeOf(elsewhere, worktree)) {
    const held = await heldWork(place, { ...worktree, path: elsewhere });
    // What git forgot already was looked at before: its files cannot be compared with anything now.
    const isForgotten = held.every(({ kind }) => kind === 'unknown') && !isKnown(place, worktree);
    if (held.length === 0 || isForgotten) return finish(place, worktree);
    renameSync(elsewhere, worktree.path);
    place.registry.change(worktree.id, ['trashed'], { state: 'released', lease: null, facts });
    return ['keep', `${held[0]?.text ?? 'it holds work'}; taken back from the trash`];
  }
  if (!isBack) return finish(place, worktree);
  place.registry.change(worktree.id, ['trashed'], { state: 'released', lease: null, facts });
  return ['keep', 'its removal was interrupted; it is judged again next time'];
}

async function finish(place: WorktreePlace, worktree: ManagedWorktree): Promise<['remove', string]> {
  await finishRemoval(place, worktree);
  return ['remove', 'its removal was interrupted, and is finished'];
}

function isKnown({ repository }: WorktreePlace, { admin }: ManagedWorktree): boolean {
  return existsSync(`${repository.commonDirectory}/worktrees/${admin}`);
}
