/**
 * What processes left that were killed while they made a worktree, took it away or took it into the pool: undone or
 * finished, by a clean-up, or when its agent is continued.
 */
import { existsSync, renameSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fewAtOnce } from '../../../system/few-at-once.ts';
import { thisProcess } from '../../../system/processes/process-identity.ts';
import { heldWork } from '../changes/held-files.ts';
import { isHalfMade, isHeld } from '../half-made.ts';
import { undoReset } from '../pool/pool.ts';
import { isTreeOf } from '../register-worktree.ts';
import { undoWorktree } from '../undo-worktree.ts';
import { unlockWorktree } from '../unlock-worktree.ts';
import type { ManagedWorktree } from '../worktree.ts';
import type { WorktreePlace } from '../worktree-place.ts';
import { finishRemoval } from './remove-worktree.ts';

const PAUSE_MS = 20;
const LONGEST_MS = 5_000;

/** Before an agent gets its worktree again. A tree on its way into the pool is on the branch of its tenant at first. */
export async function finishLeft(place: WorktreePlace, id: string): Promise<void> {
  for (let waited = 0; waited < LONGEST_MS; waited += PAUSE_MS) {
    const known = place.registry.find(id);
    const left = place.registry
      .list()
      .filter((row) => row.admin === known?.admin && isUnfinished(row) && !isFirst(row));
    if (left.length === 0) return;
    const dead = left.filter((row) => !isHeld(place.project, row));
    for (const row of dead)
      await (row.state === 'trashed' ? finishTrashed(place, row) : undoDead(place, row));
    // A clean-up is at it at this moment.
    if (dead.length === 0) await sleep(PAUSE_MS);
  }
}

/** One that no agent has had yet: undone, nothing of it would be remembered, so a clean-up does that. */
function isFirst({ state, facts }: ManagedWorktree): boolean {
  return (state === 'making' || state === 'claiming') && facts.hadBranch === undefined;
}

function isUnfinished({ state }: ManagedWorktree): boolean {
  return state === 'making' || state === 'claiming' || state === 'resetting' || state === 'trashed';
}

/** What killed processes left half-made goes, with its locks. Cheap where there is nothing. */
export async function undoHalfMade(place: WorktreePlace): Promise<void> {
  const dead = place.registry.list().filter((row) => isHalfMade(place.project, row));
  await fewAtOnce(dead, (row) => undoDead(place, row));
}

/** Only by the first process to take it: others may be cleaning up, or claiming, at this moment. */
export async function undoDead(place: WorktreePlace, worktree: ManagedWorktree): Promise<void> {
  const taken = place.registry.changeSeen(worktree, { state: 'resetting', lease: thisProcess() });
  if (taken === null) return;
  // Its branch may have been about to be made: then nothing of it is there but the lock.
  await unlockWorktree(place, taken);
  await (worktree.state === 'resetting' ? undoReset(place, taken) : undoWorktree(place, taken));
  const { hadBranch, elsewhere: _, ...facts } = worktree.facts;
  // One that was being made again for its agent, who can still be continued.
  if (hadBranch !== undefined) place.registry.put({ ...worktree, state: 'gone', lease: null, facts });
}

/**
 * What a process that was killed while it removed a worktree has left: finished, or taken back.
 *
 * A tree that was judged and not yet moved is judged again at the next request.
 */
export async function finishTrashed(
  place: WorktreePlace,
  worktree: ManagedWorktree,
): Promise<['keep' | 'remove', string]> {
  const { elsewhere, ...facts } = worktree.facts;
  const mine = place.registry.changeSeen(worktree, { lease: thisProcess() });
  if (mine === null) return ['keep', 'another process is using it'];
  const isBack = existsSync(worktree.path) && isTreeOf(worktree.path, worktree);
  if (!isBack && elsewhere !== undefined && isTreeOf(elsewhere, worktree)) {
    const held = await heldWork(place, { ...worktree, path: elsewhere });
    // What git forgot already was judged before: its files cannot be compared with anything now.
    const isForgotten = held.every(({ kind }) => kind === 'unknown') && !isKnown(place, worktree);
    if (held.length === 0 || isForgotten) return finish(place, worktree);
    renameSync(elsewhere, worktree.path);
    place.registry.change(worktree.id, ['trashed'], { state: 'released', lease: null, facts });
    return ['keep', `${held[0]?.text ?? 'it has changes'}; restored from the trash`];
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
