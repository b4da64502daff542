/**
 * An agent gives its worktree back. That is one row; the verdict comes afterwards, in the background: a worktree with
 * changes stays, one without goes into the pool or is removed (WORK-3). A process that ends before that leaves a row
 * that the next clean-up finds.
 */

import { verdictOf, type WorktreeVerdict } from '../changes/verdict.ts';
import { workMemory } from '../changes/work-in-time.ts';
import { prepareDependencies } from '../dependencies/bring-dependencies.ts';
import { seePackages } from '../dependencies/template-look.ts';
import { fillPool } from '../pool/pool.ts';
import { noteUse } from '../pool/pool-size.ts';
import type { ManagedWorktree, VerdictReason } from '../worktree.ts';
import type { WorktreePlace } from '../worktree-place.ts';
import { type RemovalOptions, removeWorktree } from './remove-worktree.ts';

export type SettledWorktree =
  | { kept: true; worktree: ManagedWorktree; reasons: VerdictReason[] }
  | { kept: false; worktree: ManagedWorktree; became: 'pooled' | 'removed' };

export interface ReleasedWorktree {
  /** The outcome. Never rejects: a failure is a reason to keep it. */
  settled: Promise<SettledWorktree>;
  /** When templates of packages for those who come next are there; with what kept one from being made. */
  prepared: Promise<string[]>;
}

export interface ReleaseOptions {
  /** Templates of its packages were checked when its agent had ended. */
  packagesSeen?: boolean | undefined;
  /** What was just found in its files that keeps it, with everything else: it is not judged again then. */
  held?: Pick<WorktreeVerdict, 'reasons' | 'work'> | null | undefined;
  remove?: RemovalOptions['remove'];
}

/** `id` is of a worktree that this process holds; of another it is a mistake that does nothing. */
export function releaseWorktree(
  place: WorktreePlace,
  id: string,
  { packagesSeen = false, held = null, remove }: ReleaseOptions = {},
): ReleasedWorktree | null {
  const changed = place.now();
  const before = place.registry.find(id);
  // Never are more in use than when one of them is given back, and then nobody waits for the note.
  if (before?.state === 'leased') noteUse(place, before);
  const facts = packagesSeen ? before?.facts : undefined;
  const changes = { state: 'released', lease: null, changed } as const;
  const released = place.registry.change(id, ['leased'], {
    ...changes,
    ...(facts !== undefined && { facts: { ...facts, packagesSeen: changed } }),
  });
  if (released === null) return null;
  if (held !== null) workMemory(place, released)(held.work);
  // After the answer: the agent's end does not wait for it.
  const settled = new Promise<void>((begin) => setImmediate(begin)).then(
    (): SettledWorktree | Promise<SettledWorktree> =>
      held === null
        ? settleWorktree(place, released, { remove })
        : { kept: true, worktree: released, reasons: held.reasons },
  );
  return { settled, prepared: settled.then(() => prepareDependencies(place)) };
}

type SettleOptions = { pools?: boolean } & Pick<RemovalOptions, 'landed' | 'leavesBranch' | 'remove'>;

/**
 * Judges a released worktree, and lets one that holds nothing vanish. `pools`: it may become one that is kept ready, which takes
 * several looks at all files, and whatever the setup command takes.
 */
export async function settleWorktree(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  { pools = true, landed, leavesBranch, remove }: SettleOptions = {},
): Promise<SettledWorktree> {
  try {
    const remember = workMemory(place, worktree);
    const [verdict] = await Promise.all([
      verdictOf(place, worktree, { landed }),
      seePackages(place, worktree),
    ]);
    if (!verdict.isEmpty) {
      if (!verdict.isMissing) remember(verdict.work);
      return { kept: true, worktree, reasons: verdict.reasons };
    }
    // What a hook made is the user's kind of worktree: the next agent gets one of its own.
    const mayPool = pools && !verdict.isMissing && worktree.facts.hook === undefined;
    const became = mayPool ? await fillPool(place, worktree, verdict.tips) : null;
    if (became !== null) return { kept: false, worktree, became };
    // In the trash its files are checked once more. What kept it from the pool takes time.
    const judged = mayPool ? { work: verdict.work, landed } : { verdict };
    const removal = await removeWorktree(place, worktree, { ...judged, leavesBranch, remove });
    return removal.removed
      ? { kept: false, worktree, became: 'removed' }
      : { kept: true, worktree, reasons: removal.reasons };
  } catch (error) {
    const text = `it could not be judged: ${error instanceof Error ? error.message : String(error)}`;
    return { kept: true, worktree, reasons: [{ kind: 'unknown', text }] };
  }
}
