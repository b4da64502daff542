/**
 * Trees for agents that are about to start (WORK-4), made before they are wanted: one after the other, beside the agents at
 * work. A claim still runs what the user wants to be run in it.
 *
 * Invariants
 * 1. What fails is undone, and nobody hears of it: the agent gets a tree of its own making then.
 * 2. A process that is killed leaves rows that the next clean-up undoes.
 */
import { join } from 'node:path';
import { newSessionId } from '../../../schema/ids.ts';
import { makePrivateDirectory } from '../../../system/home.ts';
import { thisProcess } from '../../../system/processes/process-identity.ts';
import { gitDirectoryOf } from '../../read-refs.ts';
import { checkOut } from '../check-out.ts';
import { proveWorktree } from '../prove-worktree.ts';
import { headText, isTreeOf, registerWorktree, replaceAdminFile } from '../register-worktree.ts';
import { freshFacts, slotHolder } from '../reserve-worktree.ts';
import { undoWorktree } from '../undo-worktree.ts';
import type { ManagedWorktree } from '../worktree.ts';
import { type WorktreePlace, worktreesDirectory } from '../worktree-place.ts';
import { indexBytes, knownBytes, poolBytes } from './pool-size.ts';
import { takeSlot } from './slots.ts';

export interface PoolStock {
  /** How many are to be ready; fewer if the setting `worktree.pool` or the room that the pool may take says so. */
  count: number;
  /** A commit. */
  base: string;
}

/** Makes one, or brings one that is ready to the commit, and says whether it did: who asks again gets the next. */
export async function stockPool(place: WorktreePlace, stock: PoolStock): Promise<boolean> {
  const stale = takeStale(place, stock);
  const row = stale ?? enter(place, stock);
  if (row === null) return false;
  try {
    if (stale !== null) await bringTo(place, stale);
    else await fill(place, row);
    const bytes = knownBytes(place, row) ?? undefined;
    const facts = { ...row.facts, bytes };
    const ready = { state: 'ready', lease: null, changed: place.now(), facts } as const;
    return place.registry.change(row.id, ['resetting'], ready) !== null;
  } catch {
    await undoWorktree(place, row).catch(() => {});
    return false;
  }
}

async function fill(place: WorktreePlace, row: ManagedWorktree): Promise<void> {
  await registerWorktree(place, row);
  const proof = proveWorktree(place.repository, row, place.env);
  await Promise.all([proof, checkOut(place, row, { workers: 1 })]);
}

/** One that stands at another commit: a claim would have to move it while its agent waits. */
function takeStale({ registry }: WorktreePlace, { base }: PoolStock): ManagedWorktree | null {
  return registry.transact(() => {
    const found = registry.list().find((row) => row.state === 'ready' && row.base !== base && !isSetUp(row));
    if (found === undefined) return null;
    const row: ManagedWorktree = { ...found, base, state: 'resetting', lease: thisProcess() };
    registry.put(row);
    return row;
  });
}

/** What a command or a template has put into it belongs to the commit that it stands at. */
function isSetUp({ facts }: ManagedWorktree): boolean {
  return facts.setup !== undefined || facts.dependencies.length > 0;
}

/** As one that is claimed. Throws for one that was changed in the pool. */
async function bringTo(place: WorktreePlace, row: ManagedWorktree): Promise<void> {
  if (!isTreeOf(row.path, row)) throw new Error(`${row.path} is not the tree that was put there`);
  replaceAdminFile(place, row, 'HEAD', headText(row));
  await checkOut(place, row, { workers: 1 });
}

function enter(place: WorktreePlace, { count, base }: PoolStock): ManagedWorktree | null {
  const facts = freshFacts(place, null);
  if (facts.sparse.length > 0) return null;
  const each = indexBytes(join(gitDirectoryOf(place.repository.root) ?? '', 'index'), base.length / 2) ?? 0;
  const most = Math.min(count, place.settings.pool ?? count);
  return place.registry.transact(() => {
    const pooled = place.registry.list().filter(({ state }) => state === 'ready' || state === 'resetting');
    const taken = pooled.reduce((sum, one) => sum + (one.facts.bytes ?? each), each);
    if (pooled.length >= most || taken > poolBytes(place)) return null;
    const id = newSessionId();
    const directory = join(worktreesDirectory(place), '.pool');
    makePrivateDirectory(directory);
    const now = place.now();
    const row: ManagedWorktree = {
      ...{ id, name: `.pool/${id}`, path: join(directory, id), branch: null, base, state: 'resetting' },
      ...{ owner: null, lease: thisProcess(), created: now, changed: now, facts },
      ...{ admin: `ramet-${id}`, slot: takeSlot(place.home, slotHolder(place, id)) },
    };
    place.registry.put(row);
    return row;
  });
}
