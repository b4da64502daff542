/**
 * What callers that no compiler checks may get wrong. Some calls change files, so what is not understood is refused
 * before anything is done: an argument of a wrong type, and an option that the function does not have.
 */
import { CONFLICT_POLICIES, MERGE_STRATEGIES } from '../../schema/status.ts';
import type { MergeOptions, MergeTargetOptions } from '../merge/merge.ts';
import type { RunCallOptions } from '../operator/control/ask-operator.ts';
import {
  AMOUNT,
  CHECK,
  COUNT,
  FLAG,
  FUNCTION,
  type Kinds,
  NAME,
  NAMES,
  oneOf,
  SIGNAL,
  TEXT,
  VARIABLES,
} from './argument-kinds.ts';
import type { CallOptions } from './caller.ts';
import type { DiffOptions } from './provenance.ts';
import type { StopOptions } from './stop.ts';
import type { UndoOptions } from './undo.ts';

export const CALL: Kinds<CallOptions> = {
  cwd: NAME,
  env: VARIABLES,
  signal: SIGNAL,
  note: FUNCTION,
  progress: FUNCTION,
};
export const STATUS: Kinds<CallOptions & { limit?: number }> = { ...CALL, limit: COUNT };
export const STOP: Kinds<StopOptions> = { ...CALL, now: FLAG };
export const UNDO: Kinds<UndoOptions> = {
  ...CALL,
  ...{ turn: COUNT, dryRun: FLAG, force: FLAG, redo: FLAG, onPlan: FUNCTION },
};
export const RUN: Kinds<RunCallOptions> = { ...CALL, session: NAME };
export const DIFF: Kinds<DiffOptions> = { ...CALL, base: NAME };
export const TARGET: Kinds<MergeTargetOptions> = { ...CALL, into: NAME };
export const MERGE: Kinds<MergeOptions> = {
  ...TARGET,
  ...{ strategy: oneOf(MERGE_STRATEGIES), onConflict: oneOf(CONFLICT_POLICIES), updateCheckout: FLAG },
  ...{ check: CHECK, checkSeconds: AMOUNT },
  ...{ resolveModel: NAME, resolveBudgetUsd: AMOUNT, maxBudgetUsd: AMOUNT },
};
export const CONTINUE: Kinds<MergeOptions & { branches?: readonly string[] }> = { ...MERGE, branches: NAMES };
export const LIST: Kinds<CallOptions & { all?: boolean; patience?: AbortSignal }> = {
  ...CALL,
  ...{ all: FLAG, patience: SIGNAL },
};
export const COMMIT: Kinds<CallOptions & { message?: string }> = { ...CALL, message: TEXT };
export const REMOVE: Kinds<CallOptions & { force?: boolean }> = { ...CALL, force: FLAG };
export const COLLECT: Kinds<CallOptions & { dryRun?: boolean }> = { ...CALL, dryRun: FLAG };
