/** What earlier runs of the operator in this repository say about working in parallel. */
import { type OperatorStatistics, operatorStatistics } from '../../../operator/plan/statistics.ts';
import { type CallOptions, callerOf } from '../../calls/caller.ts';
import { findPlace } from '../../place.ts';
import { readHistories } from './read-histories.ts';

export function runStatistics(options: CallOptions = {}): OperatorStatistics {
  const caller = callerOf(options);
  return operatorStatistics(readHistories(findPlace(caller).project, Number.POSITIVE_INFINITY, caller));
}
