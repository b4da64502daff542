/** Work that is offered to the merge queue: what is merged of it, what its conflicts cost, and that its check waits. */
import type { MergePorts } from '../../git/shapes.ts';
import type { TaskAttempt } from '../../operator/run/operator-state.ts';
import type { LandingReport, MergeBatch, MergeOffer } from '../../operator/run/ports.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { OperatorRun } from '../../schema/operator-events.ts';
import { addCost, addUsage } from '../../schema/usage.ts';
import type { ResolverPlace } from '../merge/agent-resolver.ts';
import { waitText } from '../merge/open-target.ts';

export type CheckWatch = Pick<MergePorts, 'onCheckWaits' | 'onCheck'>;

/** Only a wait is news: that a check runs is a status of its tasks, and where its output is comes with the result. */
export function watchChecks(onWaiting: MergeBatch['onWaiting']): CheckWatch {
  let waits = false;
  return {
    onCheckWaits: (running) => {
      waits = true;
      onWaiting?.(waitText(running));
    },
    onCheck: () => {
      if (waits) onWaiting?.(null);
      waits = false;
    },
  };
}

/** What is merged: exactly the commit that was approved, where reviewers were asked, and otherwise its branch. */
export function nameIn({ branch, commit, reviews }: TaskAttempt): string {
  return (reviews.length > 0 ? commit : branch) ?? '';
}

type ResolverCost = Parameters<NonNullable<ResolverPlace['onSpent']>>[1];

/** What resolving conflicts has cost, by task. */
export type ResolverCosts = Map<string, ResolverCost>;

/** A branch may have several conflicts, one after the other. */
export function addCostOf(
  offers: readonly MergeOffer[],
  branch: string,
  cost: ResolverCost,
  costs: ResolverCosts,
): void {
  const id = offers.find(({ attempt }) => nameIn(attempt) === branch)?.task.id;
  if (id === undefined) return;
  const before = costs.get(id);
  const sum = before && {
    ...{ costUsd: addCost(before.costUsd, cost.costUsd), usage: addUsage(before.usage, cost.usage) },
  };
  costs.set(id, sum ?? cost);
}

export function hasWork({ attempt }: MergeOffer): boolean {
  return attempt.commit !== null && attempt.branch !== null;
}

/** It was deleted since the run began. The work stays on the private ref. */
export function targetGone({ target }: OperatorRun, commit: string): LandingReport {
  const message = `the branch ${target} is gone: make it again with git branch ${target} ${commit.slice(0, 12)}, which has the result`;
  return { state: 'failed', before: null, after: null, commit, message };
}

/** Null for the error of a target that does not exist; throws every other one. */
export function nullIfGone(error: unknown): null {
  if (error instanceof UserMistake && error.code === 'no_target') return null;
  throw error;
}
