/** What an argument of the library may be, and how one that is something else is refused. */
import { UserMistake } from '../../schema/errors.ts';
import { nearName } from '../../system/text/close-names.ts';

export interface ArgumentKind {
  /** Completes "give ...". */
  readonly text: string;
  /** Of an object: what it may hold. */
  readonly fields?: Readonly<Record<string, ArgumentKind>>;
  /** Of a list or an object of one kind: what each of its parts is to be, so that the wrong one can be named. */
  readonly each?: ArgumentKind;
  /** What to do about a field that it does not have, if that can be seen from its value. */
  readonly elsewhere?: (value: unknown) => string | null;
  accepts(value: unknown): boolean;
}

const kind = (text: string, accepts: (value: unknown) => boolean): ArgumentKind => ({ text, accepts });
const isName = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isNumber = (value: unknown): value is number => typeof value === 'number' && !Number.isNaN(value);

export const NAME: ArgumentKind = kind('a text that is not empty', isName);
export const TEXT: ArgumentKind = kind('a text', (value) => typeof value === 'string');
const listOf = (each: ArgumentKind): ArgumentKind => ({
  ...kind('a list of texts', (value) => Array.isArray(value) && value.every((one) => each.accepts(one))),
  each,
});
export const NAMES: ArgumentKind = listOf(NAME);
export const TEXTS: ArgumentKind = listOf(TEXT);
export const LIST: ArgumentKind = kind('a list', Array.isArray);
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
export const ANY_OBJECT: ArgumentKind = kind('an object', isObject);
export const OBJECT: ArgumentKind = kind('an object', isPlain);
const PART: ArgumentKind = {
  ...kind('an object', isData),
  get each() {
    return PART;
  },
};
/** What is within is plain too, however deep: settings, types, servers. */
export const DATA: ArgumentKind = {
  ...kind('an object', (value) => isPlain(value) && isData(value)),
  each: PART,
};
export const DATA_LIST: ArgumentKind = {
  ...kind('a list', (value) => Array.isArray(value) && isData(value)),
  each: PART,
};
export const VARIABLES: ArgumentKind = {
  ...kind(
    'an object of texts, such as process.env',
    (value) =>
      // That one has a prototype of its own.
      (isPlain(value) || value === process.env) &&
      Object.values(Object(value)).every((one) => one === undefined || typeof one === 'string'),
  ),
  each: TEXT,
};
/** An object of a port: what has none of its methods would fail in the midst of a run. */
export const withMethods = (text: string, methods: readonly string[]): ArgumentKind =>
  kind(
    `${text}: an object with the method${methods.length === 1 ? '' : 's'} ${methods.join(' and ')}`,
    (value) =>
      isObject(value) && methods.every((name) => typeof Reflect.get(Object(value), name) === 'function'),
  );
export const ACTION: ArgumentKind = kind(
  "an action such as { kind: 'pause' }",
  (value) => isPlain(value) && isName((value as { kind?: unknown }).kind), // an object, just seen
);
/** By what it can do: a program may have the class of another realm. */
export const SIGNAL: ArgumentKind = kind(
  'an AbortSignal',
  (value) => isObject(value) && typeof (value as Partial<AbortSignal>).aborted === 'boolean', // an object, just seen
);
export const CHECK: ArgumentKind = kind('a command, or false', (value) => value === false || isName(value));
export const oneOf = (known: readonly string[]): ArgumentKind =>
  kind(`one of ${known.join(', ')}`, (value) => known.some((one) => one === value));

export const or = (literal: boolean | null, other: ArgumentKind): ArgumentKind => ({
  ...kind(`${other.text}, or ${literal}`, (value) => value === literal || other.accepts(value)),
  ...(other.each && { each: other.each }),
});
/** An object whose own fields are checked as options are. */
export const fields = (known: Readonly<Record<string, ArgumentKind>>): ArgumentKind => ({
  ...OBJECT,
  fields: known,
});

/**
 * A literal, also of another realm, or an object without a prototype. What a Map or an object of a class holds is in none of its
 * fields, or not in its own: as options it would be taken for an empty one.
 */
export function isPlain(value: unknown): value is object {
  if (!isObject(value)) return false;
  const form: unknown = Object.getPrototypeOf(value);
  return form === null || Object.getPrototypeOf(form) === null;
}

function isData(value: unknown, seen: Set<unknown> = new Set()): boolean {
  if (typeof value !== 'object' || value === null || seen.has(value)) return true;
  seen.add(value);
  if (!Array.isArray(value) && !isPlain(value)) return false;
  return Object.values(value).every((one) => isData(one, seen));
}

export type Kinds<Options> = Readonly<Record<keyof Options & string, ArgumentKind>>;

/** `what` names it for the caller: "the session". */
export function checkArgument(call: string, what: string, value: unknown, wanted: ArgumentKind): void {
  if (wanted.accepts(value)) return;
  const part = wrongPart(value, wanted.each);
  if (part !== null) checkArgument(call, `${what}${part.name}`, part.value, part.kind);
  // It is an object already: what it is not is said.
  // Where data stands, a text may.
  const isAddress = wanted === PART && value instanceof URL;
  const text = isAddress
    ? 'its text, url.href'
    : isObject(value)
      ? wanted.text.replace(/^an object/, 'a plain object')
      : wanted.text;
  throw new UserMistake('bad_argument', `${call}: ${what} is ${told(value)}; give ${text}`);
}

/** The first of a list or an object that is not of the kind. */
function wrongPart(
  value: unknown,
  each: ArgumentKind | undefined,
): { name: string; value: unknown; kind: ArgumentKind } | null {
  if (each === undefined || typeof value !== 'object' || value === null) return null;
  if (!Array.isArray(value) && !isPlain(value)) return null;
  const wrong = Object.entries(value).find(([, one]) => one !== undefined && !each.accepts(one));
  if (wrong === undefined) return null;
  const name = Array.isArray(value) ? `[${wrong[0]}]` : `.${wrong[0].slice(0, 100)}`;
  return { name, value: wrong[1], kind: each };
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
export function checkFields(
  call: string,
  within: string,
  given: object,
  known: Readonly<Record<string, ArgumentKind>>,
  elsewhere: ArgumentKind['elsewhere'] = () => null,
): void {
  for (const [name, value] of Object.entries(given)) {
    const wanted = Object.hasOwn(known, name) ? known[name] : undefined;
    if (wanted === undefined) throw unknownOption(call, within + name, Object.keys(known), elsewhere(value));
    if (value === undefined) continue;
    checkArgument(call, `the option ${within}${name}`, value, wanted);
    if (wanted.fields !== undefined)
      checkFields(call, `${within}${name}.`, value, wanted.fields, wanted.elsewhere);
  }
}

/** `option` is its name with those that it is within. */
function unknownOption(
  call: string,
  option: string,
  known: readonly string[],
  instead: string | null,
): UserMistake {
  const name = option.split('.').at(-1) ?? '';
  const near = instead === null ? nearName(name, known) : null;
  const meant = near === null ? '' : `; did you mean ${option.slice(0, -name.length)}${near}?`;
  const hint = instead === null ? meant : `; ${instead}`;
  const reason = `there is no option ${JSON.stringify(option.slice(0, 100))}`;
  return new UserMistake('bad_argument', `${call}: ${reason}; there are ${known.join(', ')}${hint}`);
}

/** What a value is, in a few words. */
export function told(value: unknown): string {
  if (typeof value === 'string')
    return value.trim() === '' ? 'an empty text' : JSON.stringify(value.slice(0, 100));
  if (Array.isArray(value)) return 'a list';
  if (value === null || typeof value !== 'object') return String(value).slice(0, 100);
  return isPlain(value) ? 'an object' : classOf(value);
}

/** `a Map`. */
function classOf(value: object): string {
  const { constructor: made } = value;
  if (typeof made !== 'function' || made === Object || made.name === '')
    return 'an object of another prototype';
  return `${/^[AEIOU](?!RL)/.test(made.name) ? 'an' : 'a'} ${made.name.slice(0, 100)}`;
}
