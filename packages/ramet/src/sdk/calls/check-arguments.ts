/**
 * What callers that no compiler checks may get wrong. Some calls change files, so what is not understood is refused
 * before anything is done: an argument of a wrong type, and an option that the function does not have.
 */
import { UserMistake } from '../../schema/errors.ts';
import { CONFLICT_POLICIES, MERGE_STRATEGIES } from '../../schema/status.ts';
import type { MergeOptions, MergeTargetOptions } from '../merge/merge.ts';
import type { RunCallOptions } from '../operator/control/ask-operator.ts';
import type { CallOptions } from './caller.ts';
import type { DiffOptions } from './provenance.ts';
import type { StopOptions } from './stop.ts';
import type { UndoOptions } from './undo.ts';

interface ArgumentKind {
  /** Completes "give ...". */
  readonly text: string;
  accepts(value: unknown): boolean;
}

const kind = (text: string, accepts: (value: unknown) => boolean): ArgumentKind => ({ text, accepts });
const isName = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';
const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isNumber = (value: unknown): value is number => typeof value === 'number' && !Number.isNaN(value);

export const NAME: ArgumentKind = kind('a text that is not empty', isName);
export const NAMES: ArgumentKind = kind(
  'a list of texts',
  (value) => Array.isArray(value) && value.every(isName),
);
const TEXT = kind('a text', (value) => typeof value === 'string');
const FLAG = kind('true or false', (value) => typeof value === 'boolean');
const COUNT = kind(
  'a whole number above 0',
  (value) => isNumber(value) && value > 0 && (Number.isInteger(value) || value === Number.POSITIVE_INFINITY),
);
const AMOUNT = kind('a number of at least 0', (value) => isNumber(value) && value >= 0);
const FUNCTION = kind('a function', (value) => typeof value === 'function');
const OBJECT = kind('an object', isObject);
export const ACTION: ArgumentKind = kind(
  "an action such as { kind: 'pause' }",
  (value) => isObject(value) && isName((value as { kind?: unknown }).kind), // an object, just seen
);
/** By what it can do: a program may have the class of another realm. */
const SIGNAL = kind(
  'an AbortSignal',
  (value) => isObject(value) && typeof (value as Partial<AbortSignal>).aborted === 'boolean', // an object, just seen
);
const CHECK = kind('a command, or false', (value) => value === false || isName(value));
const oneOf = (known: readonly string[]): ArgumentKind =>
  kind(`one of ${known.join(', ')}`, (value) => known.some((one) => one === value));

type Kinds<Options> = Readonly<Record<keyof Options & string, ArgumentKind>>;

export const CALL: Kinds<CallOptions> = {
  cwd: NAME,
  env: OBJECT,
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

/** `what` names it for the caller: "the session". */
export function checkArgument(call: string, what: string, value: unknown, wanted: ArgumentKind): void {
  if (wanted.accepts(value)) return;
  throw new UserMistake('bad_argument', `${call}: ${what} is ${told(value)}; give ${wanted.text}`);
}

/** An option that is undefined counts as absent. */
export function checkOptions(
  call: string,
  options: unknown,
  known: Readonly<Record<string, ArgumentKind>>,
): void {
  if (options === undefined) return;
  checkArgument(call, 'the argument for options', options, OBJECT);
  // An object, as was just checked.
  for (const [name, value] of Object.entries(options as object)) {
    const wanted = Object.hasOwn(known, name) ? known[name] : undefined;
    if (wanted === undefined) throw unknownOption(call, name, Object.keys(known));
    if (value !== undefined) checkArgument(call, `the option ${name}`, value, wanted);
  }
}

function unknownOption(call: string, name: string, known: readonly string[]): UserMistake {
  const reason = `there is no option ${JSON.stringify(name.slice(0, 100))}; there are ${known.join(', ')}`;
  return new UserMistake('bad_argument', `${call}: ${reason}`);
}

function told(value: unknown): string {
  if (typeof value === 'string')
    return value.trim() === '' ? 'an empty text' : JSON.stringify(value.slice(0, 100));
  if (Array.isArray(value)) return 'a list';
  return value === null || typeof value !== 'object' ? String(value).slice(0, 100) : 'an object';
}
