/** Work that began with what the private ref no longer has: what it changed itself is put on top of that ref as it is now. */
import { commitReplayed, describeConflicts, isAncestor, replayWork } from '../../../git/merges.ts';
import type { ConflictResolution, MergeRepository, OpenConflict } from '../../../git/shapes.ts';
import type { MergeOffer, MergeOutcome } from '../../../operator/run/ports.ts';
import type { OperatorRun } from '../../../schema/operator-events.ts';

export interface MovePlace {
  readonly repository: MergeRepository;
  readonly run: OperatorRun;
  /** The private ref. */
  readonly head: string;
  resolve(conflict: OpenConflict): Promise<ConflictResolution>;
}

export interface MovedOffers {
  /** What is to be merged, as it is or moved. */
  readonly changed: MergeOffer[];
  /** The outcome of the others, by task. */
  readonly outcomes: Map<string, MergeOutcome>;
}

export async function moveOffers(offers: readonly MergeOffer[], place: MovePlace): Promise<MovedOffers> {
  const changed: MergeOffer[] = [];
  const outcomes = new Map<string, MergeOutcome>();
  for (const offer of offers) {
    const moved = await moveOffer(offer, place);
    if ('kind' in moved) outcomes.set(offer.task.id, moved);
    else changed.push(moved);
  }
  return { changed, outcomes };
}

async function moveOffer(
  offer: MergeOffer,
  { repository, run, head, resolve }: MovePlace,
): Promise<MergeOffer | MergeOutcome> {
  const { task, attempt } = offer;
  const { base, commit } = attempt;
  if (base === null || commit === null || (await isAncestor(base, head, repository))) return offer;
  const work = { branch: task.id, target: run.target, from: base, to: commit };
  const outcome = await replayWork({ commit: head, tree: null }, work, repository);
  // The queue finds out that there is nothing to merge.
  const as = (made: string): MergeOffer => ({
    ...offer,
    attempt: { ...attempt, branch: made, commit: made },
  });
  if (outcome.kind === 'made') return as(outcome.head.commit);
  if (outcome.kind === 'nothing') return as(head);
  if (outcome.kind === 'refused') return { kind: 'refused', message: outcome.reason };
  const asked = run.onConflict === 'resolve' && outcome.merge !== null ? await resolve(outcome.merge) : null;
  if (asked !== null && asked.tree !== null) {
    const made = await commitReplayed({ commit: head, tree: null }, commit, asked.tree, repository);
    return as(made.commit);
  }
  const tried = asked === null || asked.tried === null ? '' : `; ${asked.tried}`;
  const message = `conflicts in ${describeConflicts(outcome.conflicts)}${tried}`;
  return { kind: 'conflict', files: outcome.files, message };
}
