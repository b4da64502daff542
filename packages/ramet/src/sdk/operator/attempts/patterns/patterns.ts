/** The patterns of one run (OP-9). Nothing of a pattern is made before the first task that uses it begins. */

import { updateRefs } from '../../../../git/merges.ts';
import type { MergeRepository } from '../../../../git/shapes.ts';
import { type OperatorState, tasksOf } from '../../../../operator/run/operator-state.ts';
import type { OperatorRun } from '../../../../schema/operator-events.ts';
import type { AttemptPlace } from '../attempt-agents.ts';
import type { RefWitness } from '../attempt-refs.ts';
import { runName, WORK_REFS } from './attempt-pattern.ts';
import { clonePattern } from './clone.ts';
import { partitionPattern, plainSharedPattern } from './partition.ts';
import type { PatchRules } from './patch-permission.ts';
import { proposePattern } from './propose.ts';
import { readPattern } from './read.ts';
import { ReadingCheckouts, settleReading } from './reading-checkouts.ts';
import { SharedCheckout, type SharedPlace } from './shared-checkout.ts';

export interface PatternsPlace extends Omit<SharedPlace, 'run'> {
  repository: MergeRepository;
  witness: RefWitness;
  refusedWrite(agent: string): string | null;
  lastText(agent: string): Promise<string>;
  rules: PatchRules;
}

export interface RunPatterns {
  readonly patterns: AttemptPlace['patterns'];
  /** When the run is over: what is merged needs no ref and no checkout of its own any more. */
  close(end: OperatorState): Promise<void>;
}

export function runPatterns(run: OperatorRun, place: PatternsPlace): RunPatterns {
  const shared = { ...place, run: runName(run) };
  const checkout = new SharedCheckout(shared);
  const reading = new ReadingCheckouts(shared);
  return {
    patterns: {
      partition: partitionPattern({ ...place, checkout }),
      none: plainSharedPattern({ ...place, checkout }),
      read: readPattern(reading),
      propose: proposePattern({ ...place, checkouts: reading, scratch: place.worktrees.project }),
      clone: clonePattern(place),
    },
    async close(end) {
      const isDone = tasksOf(end).every(({ status }) => status === 'done' || status === 'skipped');
      await checkout.close(isDone);
      if (isDone) await settleReading(place.worktrees, shared.run);
      await dropMerged(end, place.repository);
    },
  };
}

async function dropMerged(end: OperatorState, repository: MergeRepository): Promise<void> {
  const passed = tasksOf(end).flatMap(({ attempts }) => attempts.filter(({ state }) => state === 'passed'));
  const refs = passed.flatMap(({ branch }) => (branch?.startsWith(WORK_REFS) ? [branch] : []));
  await updateRefs(
    refs.map((ref) => `delete ${ref}\n`),
    { reason: 'merged' },
    repository,
  );
}
