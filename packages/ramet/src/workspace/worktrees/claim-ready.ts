/**
 * Takes a ready worktree out of the pool for a new tenant: a row, a look at HEAD, a branch, a rename. What is left to
 * do is the proof, which `create-worktree.ts` makes of every worktree.
 */
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { thisProcess } from '../../journal/process-identity.ts';
import { createBranch } from '../git/create-branch.ts';
import { readHead } from '../git/read-refs.ts';
import { checkOut } from './check-out.ts';
import type { WorktreeBase } from './find-base.ts';
import { headText, isTreeOf, replaceAdminFile } from './register-worktree.ts';
import { freshFacts, slotHolder } from './reserve-worktree.ts';
import { freeSlot, passSlot } from './slots.ts';
import { isSamePart } from './sparse-checkout.ts';
import { undoWorktree } from './undo-worktree.ts';
import type { ManagedWorktree, SparsePatterns } from './worktree.ts';
import { adminDirectory, type WorktreePlace } from './worktree-place.ts';

export interface ClaimedWorktree {
  worktree: ManagedWorktree;
  /** Whether it had to be brought to another commit. */
  isMoved: boolean;
  /** Whether the setup command has already run in it, at this commit. */
  isSetUp: boolean;
}

/** Turns a reserved row and a ready tree into one. Null when none is ready. */
export async function claimReady(
  place: WorktreePlace,
  reserved: ManagedWorktree,
  base: WorktreeBase,
): Promise<ClaimedWorktree | null> {
  if (reserved.facts.sparse.length > 0) return null;
  for (;;) {
    const ready = takeReady(place, base.commit, reserved.facts.patterns);
    if (ready === null) return null;
    if (isAsRecorded(place, ready)) return moveIn(place, { reserved, ready, base });
    await undoWorktree(place, ready);
  }
}

/** One with the same part of the files: at the wanted commit, else any. */
function takeReady(
  { registry }: WorktreePlace,
  commit: string,
  patterns: SparsePatterns | undefined,
): ManagedWorktree | null {
  return registry.transact(() => {
    const ready = registry
      .list()
      .filter(({ state, facts }) => state === 'ready' && isSamePart(facts.patterns, patterns));
    const found = ready.find(({ base }) => base === commit) ?? ready[0];
    if (found === undefined) return null;
    const claimed: ManagedWorktree = { ...found, state: 'claiming', lease: thisProcess() };
    registry.put(claimed);
    return claimed;
  });
}

function isAsRecorded(place: WorktreePlace, ready: ManagedWorktree): boolean {
  const head = readHead(adminDirectory(place, ready), place.repository.commonDirectory);
  return head?.ref === null && head.commit === ready.base && isTreeOf(ready.path, ready);
}

interface Move {
  reserved: ManagedWorktree;
  ready: ManagedWorktree;
  base: WorktreeBase;
}

async function moveIn(place: WorktreePlace, { reserved, ready, base }: Move): Promise<ClaimedWorktree> {
  const worktree = joinRows(place, { reserved, ready, base });
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
function joinRows(place: WorktreePlace, { reserved, ready, base }: Move): ManagedWorktree {
  const facts = {
    ...freshFacts(place, base.target),
    elsewhere: ready.path,
    dependencies: ready.facts.dependencies,
  };
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
