/** Deletes branches of ours that nothing depends on. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RametError } from '../../../schema/errors.ts';
import { withNotedLocks } from '../../merge/noted-locks.ts';
import { readRef } from '../../read-refs.ts';
import { readPointer } from '../../repository.ts';
import { withRepositoryLock } from '../../repository-lock.ts';
import { runGit } from '../../run-git.ts';
import { isOnAnotherRef, isOnOwnRef, onNoOtherRef } from '../changes/other-refs.ts';
import type { ManagedWorktree } from '../worktree.ts';
import type { WorktreePlace } from '../worktree-place.ts';
import { metPackedRefsLock, packedRefsPatience } from './ref-locks.ts';

/**
 * Looks and deletes under one lock: of two branches at one commit, each the reason why the other may go, one stays.
 * `kept` when only this branch leads to its tip, when a checkout has it, or when that is unknown. A branch that is still at `base`
 * has no work of its own: for its commit a ref of ours is enough, such as what an operator has merged and not landed yet.
 */
export async function deleteSafeBranch(
  place: WorktreePlace,
  branch: string,
  base?: string,
): Promise<'deleted' | 'kept' | 'none'> {
  const { repository } = place;
  const ref = `refs/heads/${branch}`;
  return withRepositoryLock(repository, 'branches', async () => {
    const tip = readRef(repository.commonDirectory, ref) ?? (await askedTip(place, ref));
    if (tip === null) return 'none';
    const isReached = async (): Promise<boolean> =>
      (await isOnAnotherRef(place, branch, tip)) || (tip === base && (await isOnOwnRef(place, tip)));
    const isSafe = await isReached().catch(() => false);
    return isSafe && (await deleteAt(place, [{ branch, tip }])) ? 'deleted' : 'kept';
  });
}

/**
 * Those of worktrees that went without them (`leavesBranch`): one walk and one transaction for all. `isWanted` chooses among them;
 * the others stay for the next time. Like `deleteSafeBranch` in what it deletes.
 */
export async function deleteLeftBranches(
  place: WorktreePlace,
  isWanted: (worktree: ManagedWorktree) => boolean = () => true,
): Promise<void> {
  const left = (): ManagedWorktree[] =>
    place.registry
      .list()
      .filter((row) => row.state === 'gone' && row.facts.leftBranch === true && isWanted(row));
  if (left().length === 0) return;
  const { repository, registry } = place;
  await withRepositoryLock(repository, 'branches', async () => {
    const rows = left();
    const tips: BranchTip[] = [];
    for (const { branch } of rows) {
      const ref = `refs/heads/${branch}`;
      const tip = readRef(repository.commonDirectory, ref) ?? (await askedTip(place, ref));
      if (branch !== null && tip !== null) tips.push({ branch, tip });
    }
    const stays = new Set<string>();
    for (let at = 0; at < tips.length; at += AT_ONCE)
      for (const branch of await deleteReached(place, tips.slice(at, at + AT_ONCE))) stays.add(branch);
    registry.transact(() => {
      for (const { id, branch } of rows) {
        const row = registry.find(id);
        if (row?.state !== 'gone' || stays.has(branch ?? '')) continue;
        const { leftBranch: _, ...facts } = row.facts;
        registry.put({ ...row, facts });
      }
    });
  });
}

/** Their names are arguments of one git. */
const AT_ONCE = 500;

const PAUSES_MS = [0, 50];

/** Those that could not be deleted now, and may be another time. One that alone leads to its commits is not among them: it is kept. */
async function deleteReached(place: WorktreePlace, tips: readonly BranchTip[]): Promise<string[]> {
  try {
    const alone = await onNoOtherRef(place, tips);
    const safe = tips.filter(({ tip }) => !alone.has(tip));
    if (safe.length === 0 || (await deleteAt(place, safe))) return [];
    // One that cannot go keeps the others of its transaction. Another git may hold a lock for a moment.
    let left = safe;
    for (const pause of PAUSES_MS) {
      await sleep(pause);
      const failed: BranchTip[] = [];
      for (const each of left) if (!(await deleteAt(place, [each]))) failed.push(each);
      if (failed.length === 0) return [];
      left = failed;
    }
    return left.map(({ branch }) => branch);
  } catch {
    return tips.map(({ branch }) => branch);
  }
}

interface BranchTip {
  branch: string;
  tip: string;
}

interface Batch {
  branches: BranchTip[];
  done: Promise<void>;
}

/** Those that wait for the lock, by place: one transaction of git takes all of them. */
const batches = new WeakMap<WorktreePlace, Batch>();

/**
 * Deletes a branch that was just made and never used, wherever else its commit is. Throws when a lock that was left
 * behind prevents it.
 */
export async function deleteFreshBranch(place: WorktreePlace, branch: string, base: string): Promise<void> {
  const isThere = (): boolean => readRef(place.repository.commonDirectory, `refs/heads/${branch}`) === base;
  if (!isThere()) return;
  const batch = batches.get(place) ?? newBatch(place);
  batch.branches.push({ branch, tip: base });
  await batch.done;
  if (isThere() && metPackedRefsLock(place) !== null)
    throw new RametError(
      'refs_locked',
      'retryable',
      `${branch} cannot be deleted: packed-refs.lock is there`,
    );
}

function newBatch(place: WorktreePlace): Batch {
  const branches: BranchTip[] = [];
  const done = withRepositoryLock(place.repository, 'branches', async () => {
    batches.delete(place);
    if (await deleteAt(place, branches)) return;
    // One that cannot go keeps the others of its transaction.
    if (branches.length > 1) for (const each of branches) await deleteAt(place, [each]);
  });
  const batch = { branches, done };
  batches.set(place, batch);
  return batch;
}

/** False when one has moved or is checked out: then none is deleted. One that an agent made lead to a branch of the user goes alone. */
async function deleteAt(place: WorktreePlace, branches: readonly BranchTip[]): Promise<boolean> {
  const inUse = usedBranches(place);
  if (branches.some(({ branch }) => inUse.has(branch))) return false;
  const { repository, env } = place;
  const input = branches.map(({ branch, tip }) => `delete refs/heads/${branch} ${tip}\n`).join('');
  const patience = ['-c', `core.packedRefsTimeout=${packedRefsPatience(place)}`];
  // A git that is killed here would leave its locks to every git of the repository.
  const files = [...branches.map(({ branch }) => `refs/heads/${branch}`), 'packed-refs'];
  const run = (): ReturnType<typeof runGit> =>
    withNotedLocks(repository.commonDirectory, files, () =>
      runGit([...patience, 'update-ref', '--no-deref', '--stdin'], { cwd: repository.root, env, input }),
    );
  const { code } = await run().catch((error: unknown) => {
    if (error instanceof RametError && error.code === 'git_killed') return run();
    throw error;
  });
  if (code !== 0) metPackedRefsLock(place);
  return code === 0;
}

/** Those that a checkout has, which `update-ref` would delete anyway, and those of worktrees that agents have or may get again. */
function usedBranches({ repository: { commonDirectory }, registry }: WorktreePlace): ReadonlySet<string> {
  const worktrees = join(commonDirectory, 'worktrees');
  const names = existsSync(worktrees) ? readdirSync(worktrees) : [];
  const places = [commonDirectory, ...names.map((name) => join(worktrees, name))];
  const heads = places.map((place) => readPointer(join(place, 'HEAD'))?.trimEnd() ?? '');
  const checkedOut = heads.flatMap((head) => /^ref: refs\/heads\/(.+)$/.exec(head)?.[1] ?? []);
  const held = registry.list().filter(({ state }) => state === 'leased' || state === 'released');
  return new Set([...checkedOut, ...held.flatMap(({ branch }) => branch ?? [])]);
}

async function askedTip({ repository, env }: WorktreePlace, ref: string): Promise<string | null> {
  const { code, stdout } = await runGit(['rev-parse', '--verify', '--quiet', ref], {
    cwd: repository.root,
    env,
  });
  return code === 0 ? stdout.trim() : null;
}
