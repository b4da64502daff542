/**
 * Programs that only read with some arguments and do more with others: each check decides over the words after the
 * name.
 */

import { mayBeOption, type ShellWord } from '../reading/shell-word.ts';
import { awkOnlyPrints } from './awk-program.ts';
import { hasDangerousOption, operandsOf } from './option-check.ts';
import { sedOnlyPrints } from './sed-script.ts';

export type ArgumentCheck = (words: readonly ShellWord[]) => boolean;

export const everyWord =
  (pattern: RegExp): ArgumentCheck =>
  (words) =>
    words.every(({ value }) => value !== null && pattern.test(value));

/** Options from a list, and operands that cannot be options. */
export const knownOptions =
  (pattern: RegExp): ArgumentCheck =>
  (words) =>
    words.every((word) => !mayBeOption(word) || (word.value !== null && pattern.test(word.value)));

/** `-v` evaluates the subscript it is given, which can hold a command; an unquoted expansion can become a `-v`. */
export function testsOnly(words: readonly ShellWord[]): boolean {
  return words.every(({ value, source, splits = false }) =>
    value === null ? /^\$[?#]$/.test(source) || (source.startsWith('"') && !splits) : !/^-[vR]$/.test(value),
  );
}

/** `%n` sets the variable that the next word names. */
export function printsOnly([format, ...rest]: readonly ShellWord[]): boolean {
  if (format === undefined || mayBeOption(format)) return false;
  if (format.value === null) return rest.length === 0;
  return !/%[^a-zA-Z%]*[hlLqjzt]*n/.test(format.value);
}

/** Without `+` an operand is the time to set. */
export function showsDate(words: readonly ShellWord[]): boolean {
  if (hasDangerousOption(words, { letters: 's', valued: 'dfr', names: ['set'] })) return false;
  return operandsOf(words, 'dfr')?.every(({ start }) => start.startsWith('+')) ?? false;
}

/** A second operand is the file they write. */
export function atMostOneOperand(words: readonly ShellWord[], valued: string): boolean {
  const operands = operandsOf(words, valued);
  return (
    operands !== null &&
    operands.length <= 1 &&
    operands.every(({ value, source }) => value !== null || !/[*?[{]/.test(source))
  );
}

const FIND_ACTION = /^-(?:execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls|files0-from)$/;

/**
 * What `-exec` runs is judged like any program. It gets paths that begin with where find started, so never options;
 * `+` ends it only after `{}`.
 */
export function findsOnly(
  words: readonly ShellWord[],
  runs: (name: string, words: readonly ShellWord[]) => boolean,
): boolean {
  const action = words.findIndex(({ value }) => value === '-exec');
  if (action === -1)
    return words.every(
      (word) => !mayBeOption(word) || (word.value !== null && !FIND_ACTION.test(word.value)),
    );
  const end = words.findIndex(
    ({ value }, index) =>
      index > action && (value === ';' || (value === '+' && words[index - 1]?.value === '{}')),
  );
  const [name, ...rest] = words.slice(action + 1, end).map(openPlaceholder);
  if (end === -1 || name?.value == null || !runs(name.value, rest)) return false;
  return findsOnly([...words.slice(0, action), ...words.slice(end + 1)], runs);
}

function openPlaceholder(word: ShellWord): ShellWord {
  const at = word.value?.indexOf('{}') ?? -1;
  return at === -1 ? word : { ...word, value: null, start: `${word.start.slice(0, at)}./` };
}

const SED_FLAGS = /^-(?:[nEruzs]+|-quiet|-silent|-regexp-extended|-null-data|-unbuffered|-separate)$/;

export function sedReads(words: readonly ShellWord[]): boolean {
  const scripts: (string | null)[] = [];
  const operands: ShellWord[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index];
    const value = word?.value ?? null;
    if (value !== null && /^(?:-[nEruzs]*e|--expression)$/.test(value))
      scripts.push(words[++index]?.value ?? null);
    else if (value !== null && SED_FLAGS.test(value)) continue;
    else if (word !== undefined && mayBeOption(word)) return false;
    else if (word !== undefined) operands.push(word);
  }
  if (scripts.length === 0) scripts.push(operands[0]?.value ?? null);
  return scripts.every((script) => script !== null && sedOnlyPrints(script));
}

export function awkReads(words: readonly ShellWord[]): boolean {
  for (let index = 0; index < words.length; index++) {
    const word = words[index];
    if (word === undefined) continue;
    if (word.splits) return false;
    if (word.value === '-F' || word.value === '-v') {
      if (words[++index]?.splits) return false;
    } else if (/^-[Fv]./.test(word.start)) continue;
    else if (mayBeOption(word)) return false;
    // What follows the program are files and assignments; an option there is read as a file.
    else return word.value !== null && awkOnlyPrints(word.value);
  }
  return false;
}

const TAR_LETTERS = /^-?(?=[a-zA-Z]*t)[tvzjJ]*f?[tvzjJ]*$/;
const TAR_OPTION = /^--(?:list|verbose|gzip|bzip2|xz|zstd|wildcards|full-time|numeric-owner|file=[^:]+)$/;

/** A colon makes it the archive of another machine; anything else may name a program. */
export function listsArchive(words: readonly ShellWord[]): boolean {
  const lists = words.some(({ value }, index) =>
    index === 0
      ? TAR_LETTERS.test(value ?? '')
      : value === '--list' || /^-[vzjJ]*t[vzjJf]*$/.test(value ?? ''),
  );
  const first = words[0]?.value === '--list';
  return (
    (lists || first) &&
    words.every(({ value, start, splits = false }, index) => {
      if (value === null) return !splits && start !== '' && !start.startsWith('-') && !start.includes(':');
      if (index === 0 && !value.startsWith('-')) return TAR_LETTERS.test(value);
      if (value.startsWith('-')) return TAR_OPTION.test(value) || /^-[tvzjJ]*f?$/.test(value);
      return !value.includes(':');
    })
  );
}

/** Decompresses to its output, lists or tests. */
export function decompresses(words: readonly ShellWord[]): boolean {
  const some = (pattern: RegExp): boolean => words.some(({ value }) => pattern.test(value ?? ''));
  // Of -t, -l and -d some take the last, and then -d writes the file.
  const shows =
    some(/^-(?:[dkqvlt]*c[cdkqvlt]*|-stdout)$/) ||
    (some(/^-(?:[kqvlt]*[lt][kqvlt]*|-list|-test)$/) && !some(/^-(?:[a-z]*d[a-z]*|-decompress)$/));
  return (
    shows && knownOptions(/^-(?:[cdkqvlt]+|-(?:stdout|list|test|decompress|keep|quiet|verbose))$/)(words)
  );
}

/** Pages by name, never files: a page that is given by path is formatted by what it says itself. */
export const showsManual: ArgumentCheck = everyWord(/^(?:-[kfaw]+|--where|\d\w?|[A-Za-z_][\w.+:-]*|\[)$/);

/** Away from a terminal a pager copies; with `-o` to a file, too. */
export const pages: ArgumentCheck = (words) =>
  knownOptions(/^-(?:[NRSFXrimsneEnp]+|\d+)$/)(words) && words.every(({ start }) => !start.startsWith('+'));
