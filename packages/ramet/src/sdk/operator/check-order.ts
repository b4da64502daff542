/** The options of `session.operate`, for callers that no compiler checks. */
import { ISOLATIONS } from '../../schema/operator-events.ts';
import { CONFLICT_POLICIES, MERGE_STRATEGIES } from '../../schema/status.ts';
import {
  ABOVE_ZERO,
  CHECK,
  COUNT,
  checkOptions,
  FLAG,
  FUNCTION,
  type Kinds,
  NAME,
  NAMES,
  oneOf,
  SIGNAL,
  WHOLE,
  WIDTH,
  withMethods,
} from '../calls/argument-kinds.ts';
import type { OperateOrder } from './operate-order.ts';

const OPERATE: Kinds<OperateOrder> = {
  ...{ file: NAME, again: FLAG, bullets: FLAG, tag: NAME, optional: FLAG, into: NAME, policy: NAME },
  ...{
    parallel: WIDTH,
    attempts: COUNT,
    isolation: oneOf(['auto', ...ISOLATIONS]),
    strategy: oneOf(MERGE_STRATEGIES),
  },
  ...{ check: CHECK, checkSeconds: ABOVE_ZERO, onConflict: oneOf(CONFLICT_POLICIES) },
  ...{ resolveModel: NAME, resolveBudgetUsd: ABOVE_ZERO, review: NAMES, reviewModel: NAME, retries: WHOLE },
  ...{ maxBudgetUsd: ABOVE_ZERO, model: NAME, updateCheckout: FLAG, marks: FLAG, report: NAME },
  ...{
    signal: SIGNAL,
    note: FUNCTION,
    onBegin: FUNCTION,
    questions: withMethods('questions', ['watch', 'expect']),
  },
};

export function checkOrder(order: unknown): void {
  checkOptions('session.operate', order, OPERATE);
}
