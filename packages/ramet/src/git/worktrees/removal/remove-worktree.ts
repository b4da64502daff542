/**
 * Takes a worktree away: only one that holds nothing, or one that a person insists on, after its work is kept. The
 * directory is renamed into a trash folder first, which takes no time and can be taken back, and looked at once more
 * there, where nobody looks for it; only then does git forget it, and it is deleted at low priority.
 *
 * Invariants
 * 1. The verdict is of this path and this moment; what changed since takes the tree back to its place.
 * 2. The branch goes only when another ref leads to its tip, checked under the lock that removals share (`deleteSafeBranch`).
 * 3. What is remembered is enough to bring it back (WORK-8).
 */
import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describeError, systemCode } from '../../../schema/errors.ts';
import { thisProcess } from '../../../system/processes/process-identity.ts';
import type { Checkpoint } from '../changes/checkpoint.ts';
import { type KeptWork, keepWork } from '../changes/keep-work.ts';
import { cameSince, type VerdictOptions, verdictOf, type WorktreeVerdict } from '../changes/verdict.ts';
import { freeSlot } from '../pool/slots.ts';
import { isLockOurs, isTreeOf, lockText, unregisterWorktree } from '../register-worktree.ts';
import { slotHolder } from '../reserve-worktree.ts';
import type { ManagedWorktree, VerdictReason } from '../worktree.ts';
import { adminDirectory, type WorktreePlace, worktreesDirectory } from '../worktree-place.ts';
import { deleteLater, processesInside, unlinkOurs } from './delete-directory.ts';
import { deleteSafeBranch } from './safe-branch.ts';

export interface RemovalOptions extends VerdictOptions {
  /** A person insists. What cannot be undone (a process in it, a mount) still counts. */
  force?: boolean | undefined;
  /** Of this moment, if it was judged. */
  verdict?: WorktreeVerdict | undefined;
  /** Its branch is left to `deleteLeftBranches`, which takes many at once. */
  leavesBranch?: boolean | undefined;
  /** Removes the directory of one that a hook made, in place of us. */
  remove?: (() => Promise<void>) | undefined;
}

export type WorktreeRemoval =
  | {
      removed: true;
      branch: 'deleted' | 'kept' | 'none';
      /** What was kept of a tree that had changes. */
      checkpoint: Checkpoint | null;
      /** Where folders of it are that no commit can hold; null when there were none. */
      keptFolder: string | null;
      /** Waits until the files are gone too. */
      deleted: () => Promise<void>;
    }
  | { removed: false; reasons: VerdictReason[] };

export async function removeWorktree(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  { force = false, leavesBranch = false, verdict: known, remove, ...options }: RemovalOptions = {},
): Promise<WorktreeRemoval> {
  const verdict = known ?? (await verdictOf(place, worktree, options));
  const against = force ? verdict.reasons.filter(isFinal) : verdict.reasons;
  if (against.length > 0) return { removed: false, reasons: against };
  const saved = await saveWork(place, worktree, verdict);
  if (saved !== null && 'kind' in saved) return { removed: false, reasons: [saved] };
  const isByHook = remove !== undefined && worktree.facts.hook !== undefined && !verdict.isMissing;
  const trash = isByHook ? undefined : trashOf(place, worktree);
  const trashed = place.registry.changeSeen(worktree, {
    state: 'trashed',
    lease: thisProcess(),
    facts: { ...worktree.facts, elsewhere: trash },
  });
  if (trashed === null) {
    saved?.undo();
    return { removed: false, reasons: [{ kind: 'in_use', text: 'another process took it' }] };
  }
  place.onStep('trashing');
  const kept =
    trash === undefined
      ? await removeByHook(place, trashed, remove)
      : verdict.isMissing
        ? null
        : await moveToTrash(place, trashed, trash, force ? null : verdict);
  if (kept !== null) {
    saved?.undo();
    place.registry.change(worktree.id, ['trashed'], {
      state: 'released',
      lease: null,
      facts: worktree.facts,
    });
    return { removed: false, reasons: kept };
  }
  place.onStep('trashed');
  const work = { checkpoint: saved?.checkpoint ?? null, keptFolder: saved?.folder ?? null };
  return { removed: true, ...work, ...(await finishRemoval(place, trashed, leavesBranch)) };
}

/** Not even a person's word makes these harmless. Repositories of submodules go with what git knows of a worktree. */
function isFinal({ kind }: VerdictReason): boolean {
  return kind === 'in_use' || kind === 'mount' || kind === 'submodule';
}

async function saveWork(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  verdict: WorktreeVerdict,
): Promise<KeptWork | VerdictReason | null> {
  if (verdict.isEmpty || verdict.isMissing) return null;
  try {
    return await keepWork(place, worktree);
  } catch (error) {
    return { kind: 'unknown', text: `its work could not be saved: ${describeError(error)}` };
  }
}

/** Beside it, whatever the setting says now: on the same file system. In a folder of the user's we leave nothing if we need not. */
function trashOf(place: WorktreePlace, { path, facts, id }: ManagedWorktree): string {
  const own = worktreesDirectory(place);
  const device = (folder: string): number | undefined => statSync(folder, { throwIfNoEntry: false })?.dev;
  const isNear =
    facts.hook !== undefined && device(own) !== undefined && device(own) === device(dirname(path));
  return join(isNear ? own : dirname(path), '.trash', id);
}

/** Why it stays; null when the hook has removed it. Whatever it left there is the user's to judge. */
async function removeByHook(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  remove: RemovalOptions['remove'],
): Promise<VerdictReason[] | null> {
  const lock = join(adminDirectory(place, worktree), 'locked');
  const isLocked = isLockOurs(place, worktree) === true;
  // `git worktree remove` refuses a locked one.
  if (isLocked) rmSync(lock, { force: true });
  await remove?.();
  if (!existsSync(worktree.path)) return null;
  if (isLocked && isTreeOf(worktree.path, worktree)) writeFileSync(lock, lockText(worktree));
  return [{ kind: 'unknown', text: 'the WorktreeRemove hook has left it in its place' }];
}

/** Why it is back in its place; null when it is in the trash for good. `judged` is null where a person insists. */
async function moveToTrash(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  trash: string,
  judged: WorktreeVerdict | null,
): Promise<VerdictReason[] | null> {
  unlinkOurs(worktree.path, worktree.facts.links);
  try {
    mkdirSync(join(trash, '..'), { recursive: true, mode: 0o700 });
    renameSync(worktree.path, trash);
  } catch (error) {
    return [{ kind: 'unknown', text: `it cannot be moved: ${systemCode(error) ?? describeError(error)}` }];
  }
  place.onStep('moved to the trash');
  const late =
    judged === null ? [] : await cameSince(place, worktree, { directory: trash, tips: judged.tips });
  const inside =
    processesInside(trash)?.length === 0 ? [] : [{ kind: 'in_use' as const, text: 'a process works in it' }];
  if (late.length + inside.length === 0) return null;
  renameSync(trash, worktree.path);
  return [...late, ...inside];
}

/** From a tree in the trash to a memory. Also finishes what a killed process began. */
export async function finishRemoval(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  leavesBranch = false,
): Promise<{ branch: 'deleted' | 'kept' | 'none'; deleted: () => Promise<void> }> {
  await unregisterWorktree(place, worktree);
  place.onStep('unregistered');
  const isLeft = leavesBranch && worktree.branch !== null;
  const branch = isLeft ? 'kept' : await deleteOwnBranch(place, worktree);
  const { hook } = worktree.facts;
  // The user's kind of branch: only what leads to its commit elsewhere counts, and none of our private refs does.
  if (hook?.isNewBranch && hook.branch !== null) await deleteSafeBranch(place, hook.branch);
  place.onStep('branch deleted');
  const { elsewhere, leftBranch: _, ...known } = worktree.facts;
  const facts = {
    ...known,
    ...(isLeft && { leftBranch: true as const }),
    // A branch of that name that comes later is another one.
    ...(hook !== undefined && { hook: { ...hook, isNewBranch: false } }),
  };
  place.registry.change(worktree.id, ['trashed'], {
    state: 'gone',
    lease: null,
    changed: place.now(),
    facts,
  });
  freeSlot(place.home, worktree.slot, slotHolder(place, worktree.id));
  return { branch, deleted: elsewhere === undefined ? async () => {} : deleteLater(elsewhere) };
}

function deleteOwnBranch(
  place: WorktreePlace,
  { branch, base }: ManagedWorktree,
): Promise<'deleted' | 'kept' | 'none'> | 'none' {
  return branch === null ? 'none' : deleteSafeBranch(place, branch, base);
}
