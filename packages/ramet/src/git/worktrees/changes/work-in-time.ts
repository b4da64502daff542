/**
 * The changes in the files of many worktrees, for a list that a user waits for. Git reads every file, which takes a
 * fifth of a second for 50,000 of them. So the result is remembered in the registry, and if the time is up before a
 * worktree was read again, the list shows what is remembered, with its age. Only a list may use it: a removal is judged
 * afresh at that moment.
 */
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { ManagedWorktree, VerdictReason } from '../worktree.ts';
import { adminDirectory, type WorktreePlace } from '../worktree-place.ts';
import { heldWork } from './held-files.ts';

export interface WorkInFiles {
  reasons: readonly VerdictReason[];
  /** When it was read. */
  at: number;
}

export interface LookingTime {
  /** Aborts when remembered results are to be used. */
  patience: AbortSignal;
  /** A worktree with a smaller index, about 5,000 files, is always looked at. */
  largeIndex?: number;
}

const LARGE_INDEX = 500_000;

/** By id. Small ones and those without a remembered result are read however long it takes. */
export async function workInTime(
  place: WorktreePlace,
  worktrees: readonly ManagedWorktree[],
  { patience, largeIndex = LARGE_INDEX }: LookingTime,
): Promise<ReadonlyMap<string, WorkInFiles>> {
  const known = new Map(
    worktrees.map((one): [string, WorkInFiles | null] => [one.id, memoryOf(place, one, largeIndex)]),
  );
  const age = ({ id }: ManagedWorktree): number => known.get(id)?.at ?? Number.NEGATIVE_INFINITY;
  // The oldest first: list after list, all of them are read again.
  const rest = worktrees.toSorted((one, other) => age(one) - age(other)).values();
  const found = new Map<string, WorkInFiles>();
  const worker = async (): Promise<void> => {
    for (const worktree of rest) {
      const memory = known.get(worktree.id) ?? null;
      const fresh = await look(place, worktree, memory === null ? undefined : patience);
      const work = fresh ?? memory;
      if (work !== null) found.set(worktree.id, work);
    }
  };
  await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, worker));
  return found;
}

/** Null when the time is up. */
async function look(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  patience: AbortSignal | undefined,
): Promise<WorkInFiles | null> {
  const isOver = (): boolean => patience?.aborted === true;
  if (isOver()) return null;
  const at = place.now();
  const remember = workMemory(place, worktree, at);
  const reasons = await heldWork(place, worktree, patience);
  if (isOver()) return null;
  remember(reasons);
  return { at, reasons };
}

/** To be asked for before a look, and told what it found. A home that cannot be written remembers nothing. */
export function workMemory(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  at: number = place.now(),
): (reasons: readonly VerdictReason[]) => void {
  const { registry } = place;
  const index = indexOf(place, worktree);
  return (reasons) => {
    if (index === null) return;
    try {
      registry.transact(() => {
        const row = registry.find(worktree.id);
        if (row === null || row.state !== worktree.state || row.changed !== worktree.changed) return;
        registry.put({ ...row, facts: { ...row.facts, work: { at, reasons, index } } });
      });
    } catch {
      // As above.
    }
  };
}

function memoryOf(place: WorktreePlace, worktree: ManagedWorktree, largeIndex: number): WorkInFiles | null {
  const { work } = worktree.facts;
  if (Number(work?.index.split(' ')[1] ?? 0) < largeIndex) return null;
  if (work === undefined || work.at < worktree.changed || work.index !== indexOf(place, worktree))
    return null;
  return work;
}

/** Whatever git does in a worktree, it writes its index. */
function indexOf(place: WorktreePlace, worktree: ManagedWorktree): string | null {
  const index = join(adminDirectory(place, worktree), 'index');
  const stats = statSync(index, { throwIfNoEntry: false, bigint: true });
  return stats === undefined ? null : `${stats.ino} ${stats.size} ${stats.mtimeNs}`;
}
