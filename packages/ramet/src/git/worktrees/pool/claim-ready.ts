/**
 * Takes a ready worktree out of the pool for a new tenant: a row, a look at HEAD, a branch, a rename. What is left to
 * do is the proof, which `create-worktree.ts` makes of every worktree.
 */
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { thisProcess } from '../../../system/processes/process-identity.ts';
import { createBranch } from '../../create-branch.ts';
import { checkOut } from '../check-out.ts';
import type { WorktreeBase } from '../find-base.ts';
import { headText, replaceAdminFile } from '../register-worktree.ts';
import { claimedFacts, findReady, isAsRecorded, slotHolder } from '../reserve-worktree.ts';
import { undoWorktree } from '../undo-worktree.ts';
import type { ManagedWorktree, SparsePatterns } from '../worktree.ts';
import type { WorktreePlace } from '../worktree-place.ts';
import { freeSlot, passSlot } from './slots.ts';

export interface ClaimedWorktree {
  worktree: ManagedWorktree;
  /** Whether it had to be brought to another commit. */
  isMoved: boolean;
  /** Whether the setup command has already run in it, at this commit. */
  isSetUp: boolean;
}

/**
 * Turns a reserved row and a ready tree into one. `ready`: the tree whose row the reserved one has replaced. Null when
 * none is ready.
 */
export async function claimReady(
  place: WorktreePlace,
  reserved: ManagedWorktree,
  { base, ready: own = null }: { base: WorktreeBase; ready?: ManagedWorktree | null | undefined },
): Promise<ClaimedWorktree | null> {
  if (own !== null) return moveIn(place, { worktree: reserved, ready: own, base });
  if (reserved.facts.sparse.length > 0) return null;
  for (;;) {
    const ready = takeReady(place, base.commit, reserved.facts.patterns);
    if (ready === null) return null;
    if (isAsRecorded(place, ready))
      return moveIn(place, { worktree: joinRows(place, { reserved, ready, base }), ready, base });
    await undoWorktree(place, ready);
  }
}

function takeReady(
  { registry }: WorktreePlace,
  commit: string,
  patterns: SparsePatterns | undefined,
): ManagedWorktree | null {
  return registry.transact(() => {
    const found = findReady(registry.list(), commit, patterns);
    if (found === null) return null;
    const claimed: ManagedWorktree = { ...found, state: 'claiming', lease: thisProcess() };
    registry.put(claimed);
    return claimed;
  });
}

interface Move {
  worktree: ManagedWorktree;
  ready: ManagedWorktree;
  base: WorktreeBase;
}

async function moveIn(place: WorktreePlace, { worktree, ready, base }: Move): Promise<ClaimedWorktree> {
  place.onStep('claimed');
  if (worktree.branch !== null) {
    await createBranch(place.repository, place.env, { branch: worktree.branch, commit: worktree.base });
  }
  place.onStep('branch made for a claim');
  renameSync(ready.path, worktree.path);
  place.onStep('moved out of the pool');
  replaceAdminFile(place, worktree, 'gitdir', `${join(worktree.path, '.git')}\n`);
  replaceAdminFile(place, worktree, 'HEAD', headText(worktree));
  const isMoved = ready.base !== base.commit;
  if (isMoved) await checkOut(place, worktree);
  return { worktree, isMoved, isSetUp: !isMoved && ready.facts.setup === place.settings.setup };
}

/** The reserved name with the tree's registration and slot; the pool's row goes. */
function joinRows(
  place: WorktreePlace,
  { reserved, ready, base }: { reserved: ManagedWorktree; ready: ManagedWorktree; base: WorktreeBase },
): ManagedWorktree {
  const facts = claimedFacts(place, base.target, ready);
  const { admin, slot } = ready;
  const worktree: ManagedWorktree = { ...reserved, state: 'claiming', admin, slot, facts };
  place.registry.transact(() => {
    place.registry.put(worktree);
    place.registry.forget(ready.id);
  });
  passSlot(place.home, slot, slotHolder(place, worktree.id));
  freeSlot(place.home, reserved.slot, slotHolder(place, reserved.id));
  return worktree;
}
