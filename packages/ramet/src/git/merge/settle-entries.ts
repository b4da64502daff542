/** What is said of branches that do not go along, with what to do. */

import { type CheckOutcome, describeCheck } from './check-outcome.ts';
import type { CheckedChain } from './checked-chain.ts';
import { describeConflicts } from './integration.ts';
import type { SetAside } from './merge-chain.ts';
import type { MergeChange, MergeEntry } from './merge-entries.ts';
import type { MergeRequest } from './merge-request.ts';

export function settle(
  pending: readonly MergeEntry[],
  first: CheckedChain<MergeEntry>,
  second: CheckedChain<MergeEntry>,
  request: MergeRequest,
): MergeChange[] {
  if (first.startFails !== null) return unblamed(pending, first.startFails, request.target);
  const culprits = [...first.culprits, ...second.culprits].map(({ item, outcome }) => failed(item, outcome));
  return [...culprits, ...[...first.aside, ...second.aside].map(setAside)];
}

function failed({ id, tip }: MergeEntry, outcome: CheckOutcome): MergeChange {
  const reason = `the check failed ${describeCheck(outcome)}`;
  return { id, tip, state: 'failed', result: null, reason };
}

/** They stay in the queue: nothing is known against them. */
function unblamed(entries: readonly MergeEntry[], outcome: CheckOutcome, target: string): MergeChange[] {
  const reason = `the check fails on ${target} itself ${describeCheck(outcome)}`;
  return entries.map(({ id, tip }) => ({ id, tip, state: 'waiting', result: null, reason }));
}

function setAside({ item, outcome }: SetAside<MergeEntry>): MergeChange {
  const { id, tip } = item;
  switch (outcome.kind) {
    case 'nothing':
      return { id, tip, state: 'nothing', result: null, reason: outcome.reason };
    case 'refused':
      return { id, tip, state: 'failed', result: null, reason: outcome.reason };
    case 'conflict': {
      const reason = `conflicts in ${describeConflicts(outcome.conflicts)}${outcome.tried ?? ''}`;
      return { id, tip, state: 'conflicted', result: null, reason };
    }
  }
}
