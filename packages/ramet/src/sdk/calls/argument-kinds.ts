/** What an argument of the library may be, and how one that is something else is refused. */
import { UserMistake } from '../../schema/errors.ts';
import { nearName } from '../../system/text/close-names.ts';

export interface ArgumentKind {
  /** Completes "give ...". */
  readonly text: string;
  /** Of an object: what it may hold. */
  readonly fields?: Readonly<Record<string, ArgumentKind>>;
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
export const TEXTS: ArgumentKind = kind(
  'a list of texts',
  (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
);
export const LIST: ArgumentKind = kind('a list', Array.isArray);
export const TEXT: ArgumentKind = kind('a text', (value) => typeof value === 'string');
export const FLAG: ArgumentKind = kind('true or false', (value) => typeof value === 'boolean');
export const COUNT: ArgumentKind = kind(
  'a whole number above 0',
  (value) => isNumber(value) && value > 0 && (Number.isInteger(value) || value === Number.POSITIVE_INFINITY),
);
export const WHOLE: ArgumentKind = kind(
  'a whole number of at least 0',
  (value) => Number.isInteger(value) && Number(value) >= 0,
);
export const WIDTH: ArgumentKind = kind(
  'a whole number above 0, or auto',
  (value) => value === 'auto' || (Number.isInteger(value) && Number(value) > 0),
);
export const ABOVE_ZERO: ArgumentKind = kind('a number above 0', (value) => isNumber(value) && value > 0);
export const NUMBER: ArgumentKind = kind('a number', (value) => typeof value === 'number');
export const AMOUNT: ArgumentKind = kind('a number of at least 0', (value) => isNumber(value) && value >= 0);
export const FUNCTION: ArgumentKind = kind('a function', (value) => typeof value === 'function');
export const OBJECT: ArgumentKind = kind('an object', isObject);
export const VARIABLES: ArgumentKind = kind(
  'an object of texts, such as process.env',
  (value) =>
    isObject(value) &&
    Object.values(Object(value)).every((one) => one === undefined || typeof one === 'string'),
);
export const ACTION: ArgumentKind = kind(
  "an action such as { kind: 'pause' }",
  (value) => isObject(value) && isName((value as { kind?: unknown }).kind), // an object, just seen
);
/** By what it can do: a program may have the class of another realm. */
export const SIGNAL: ArgumentKind = kind(
  'an AbortSignal',
  (value) => isObject(value) && typeof (value as Partial<AbortSignal>).aborted === 'boolean', // an object, just seen
);
export const CHECK: ArgumentKind = kind('a command, or false', (value) => value === false || isName(value));
export const oneOf = (known: readonly string[]): ArgumentKind =>
  kind(`one of ${known.join(', ')}`, (value) => known.some((one) => one === value));

export const or = (literal: boolean | null, other: ArgumentKind): ArgumentKind =>
  kind(`${other.text}, or ${literal}`, (value) => value === literal || other.accepts(value));
/** An object whose own fields are checked as options are. */
export const fields = (known: Readonly<Record<string, ArgumentKind>>): ArgumentKind => ({
  ...OBJECT,
  fields: known,
});

export type Kinds<Options> = Readonly<Record<keyof Options & string, ArgumentKind>>;

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
  checkFields(call, '', options as object, known);
}

/** `within` is the option whose fields these are, with a dot; empty for the options themselves. */
function checkFields(
  call: string,
  within: string,
  given: object,
  known: Readonly<Record<string, ArgumentKind>>,
): void {
  for (const [name, value] of Object.entries(given)) {
    const wanted = Object.hasOwn(known, name) ? known[name] : undefined;
    if (wanted === undefined) throw unknownOption(call, within, name, Object.keys(known));
    if (value === undefined) continue;
    checkArgument(call, `the option ${within}${name}`, value, wanted);
    if (wanted.fields !== undefined) checkFields(call, `${within}${name}.`, value, wanted.fields);
  }
}

function unknownOption(call: string, within: string, name: string, known: readonly string[]): UserMistake {
  const near = nearName(name, known);
  const hint = near === null ? '' : `; did you mean ${within}${near}?`;
  const reason = `there is no option ${JSON.stringify(`${within}${name.slice(0, 100)}`)}`;
  return new UserMistake('bad_argument', `${call}: ${reason}; there are ${known.join(', ')}${hint}`);
}

function told(value: unknown): string {
  if (typeof value === 'string')
    return value.trim() === '' ? 'an empty text' : JSON.stringify(value.slice(0, 100));
  if (Array.isArray(value)) return 'a list';
  return value === null || typeof value !== 'object' ? String(value).slice(0, 100) : 'an object';
}
