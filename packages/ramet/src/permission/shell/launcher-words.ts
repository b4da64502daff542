/** Where the command begins among the words of a launcher, and what its options were given. */
import { openedPath } from '../../system/landing-path.ts';
import type { Launcher } from './programs/launchers.ts';
import type { ShellCommand } from './reading/shell-reading.ts';
import { type ShellWord, UNKNOWN_WORDS } from './reading/shell-word.ts';

/** Where a command may begin: more than one place where an option is not known, or a word is known only then. */
export function startsOf(launcher: Launcher, words: readonly ShellWord[]): number[] {
  const { verb, behind } = launcher;
  const at = verb === undefined ? 0 : words.findIndex(({ value }) => verb.test(value ?? ''));
  if (at === -1) return [];
  if (behind !== undefined) return behindOptions(words, behind);
  return startsAfter(launcher, words, verb === undefined ? 0 : at + 1);
}

function behindOptions(words: readonly ShellWord[], names: RegExp): number[] {
  return words.flatMap(({ value }, index) =>
    names.test(value ?? '') && index + 1 < words.length ? [index + 1] : [],
  );
}

/** The commands that it may run: its words, from where they may begin. */
export function launchedWords(command: ShellCommand, launcher: Launcher): ShellCommand[] {
  const words = command.words.slice(1);
  if (!/^(?:words|both)$/.test(launcher.runs ?? 'words') && launcher.behind === undefined) return [];
  const split = launcher.splits === undefined ? [] : splitWords(command, words, launcher.splits);
  const behind = startsOf(launcher, words).map((start) => {
    const rest = words.slice(start);
    const end =
      launcher.until === undefined ? -1 : rest.findIndex(({ value }) => launcher.until?.test(value ?? ''));
    const own = end === -1 ? rest : rest.slice(0, end);
    const directories = directoriesOf(command, launcher, words.slice(0, start));
    return asCommand(launcher.adds ? [...own, UNKNOWN_WORDS] : own, directories);
  });
  return [...split, ...behind];
}

function asCommand(words: readonly ShellWord[], directories: ShellCommand['directories']): ShellCommand {
  return { words, assignments: [], source: words.map(({ source }) => source).join(' '), directories };
}

function directoriesOf(
  { directories }: ShellCommand,
  { directory = '' }: Launcher,
  before: readonly ShellWord[],
): ShellCommand['directories'] {
  const [folder] = optionValues(before, directory);
  if (folder === undefined) return directories;
  const { value } = folder;
  return value === null ? null : (directories?.map((place) => openedPath(place, value) ?? place) ?? null);
}

/** Of `env -S "sh -c" x` both are words of one command. The text may begin with options of `env` itself. */
function splitWords(command: ShellCommand, words: readonly ShellWord[], options: string): ShellCommand[] {
  const [program = UNKNOWN_WORDS] = command.words;
  return optionValues(words, options).map(({ value, source }) => {
    const at = words.findIndex((word) => word.source === source || word.source.endsWith(source));
    const split = takenApart(value ?? '').map((text) => ({ source: text, value: text, start: text }));
    return asCommand(
      [program, ...(value === null ? [UNKNOWN_WORDS] : split), ...words.slice(at + 1)],
      command.directories,
    );
  });
}

const ESCAPED: Readonly<Record<string, string>> = { _: ' ', t: '\t', n: '\n', r: '\r', f: '\f', v: '\v' };

/** As `env -S` does it: blanks and their escapes separate, quotes hold together, `#` and `\\c` end it. */
function takenApart(text: string): string[] {
  const found: string[] = [];
  let word: string | null = null;
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] ?? '';
    const next = text[at + 1] ?? '';
    if (sign === '\\' && quote !== "'") {
      at += 1;
      if (next === 'c') break;
      if (next in ESCAPED && quote === '') {
        if (word !== null) found.push(word);
        word = null;
      } else word = (word ?? '') + (ESCAPED[next] ?? next);
    } else if (quote === '' ? /["']/.test(sign) : sign === quote) {
      quote = quote === '' ? sign : '';
      word ??= '';
    } else if (quote === '' && /\s/.test(sign)) {
      if (word !== null) found.push(word);
      word = null;
    } else if (quote === '' && word === null && sign === '#') break;
    else word = (word ?? '') + sign;
  }
  return word === null ? found : [...found, word];
}

interface Place {
  readonly at: number;
  /** Words that still come before the command. */
  readonly before: number;
  /** Behind `--` nothing is an option. */
  readonly ended: boolean;
}

function startsAfter(launcher: Launcher, words: readonly ShellWord[], first: number): number[] {
  if (launcher.anywhere)
    return words.flatMap(({ start }, at) => (at >= first && !start.startsWith('-') ? [at] : []));
  const found = new Set<number>();
  const seen = new Set<string>();
  const places: Place[] = [{ at: first, before: launcher.operands ?? 0, ended: false }];
  for (let place = places.pop(); place !== undefined; place = places.pop()) {
    const key = `${place.at} ${place.before} ${place.ended}`;
    const word = words[place.at];
    if (word === undefined || seen.has(key)) continue;
    seen.add(key);
    const isOption = !place.ended && /^-./.test(word.value ?? word.start);
    if (isOption) places.push(...afterOption(launcher, word, place));
    else if (word.value !== null && /^\w+=/.test(word.value)) places.push({ ...place, at: place.at + 1 });
    else places.push(...afterOperand(launcher, word, place, found));
  }
  return [...found].sort((one, other) => one - other);
}

function afterOption(launcher: Launcher, word: ShellWord, { at, before }: Place): Place[] {
  const next: Place = { at: at + 1, before, ended: word.value === '--' };
  if (next.ended || word.value?.includes('=') === true) return [next];
  const kind = word.value === null ? 'unknown' : kindOf(launcher, word.value);
  if (kind === 'flag') return [next];
  const behindValue = { ...next, at: at + 2 };
  return kind === 'valued' ? [behindValue] : [next, behindValue];
}

function afterOperand(
  { loose, passes }: Launcher,
  { value }: ShellWord,
  { at, before, ended }: Place,
  found: Set<number>,
): Place[] {
  const isPassed = before > 0 && passes?.test(value ?? '') === true;
  if ((before === 0 || loose) && !isPassed) found.add(at);
  const rest: Place[] = before > 0 ? [{ at: at + 1, before: before - 1, ended }] : [];
  // It may become an option, or nothing.
  return value === null && !ended ? [...rest, { at: at + 1, before, ended }] : rest;
}

function kindOf({ short = '', long = '' }: Launcher, option: string): 'flag' | 'valued' | 'unknown' {
  if (option.startsWith('--')) {
    const names = long.split(' ').filter((name) => name.startsWith(option.slice(2)));
    const isValued = (name: string): boolean => name.endsWith(':') && !name.endsWith('::');
    if (names.length === 0) return 'unknown';
    return names.every(isValued) ? 'valued' : names.some(isValued) ? 'unknown' : 'flag';
  }
  for (const [index, letter] of [...option].entries()) {
    if (index === 0) continue;
    const at = short.indexOf(letter);
    if (at === -1 || letter === ':') return 'unknown';
    if (short[at + 1] !== ':') continue;
    // What follows in the same word is the value.
    return short[at + 2] === ':' || index < option.length - 1 ? 'flag' : 'valued';
  }
  return 'flag';
}

/** Values of these options, by letter and by long name, wherever they stand. */
export function optionValues(words: readonly ShellWord[], names: string): ShellWord[] {
  if (names === '') return [];
  const all = names.split(' ');
  return words.flatMap((word, index) => {
    const text = word.value ?? word.start;
    if (!/^-./.test(text)) return [];
    return all.flatMap((name) => givenTo(name, text, word, words[index + 1]));
  });
}

function givenTo(name: string, text: string, word: ShellWord, next: ShellWord | undefined): ShellWord[] {
  const following = next === undefined ? [] : [next];
  const isLetter = name.length === 1;
  const dashed = isLetter ? [] : [`--${name}`, `-${name}`];
  if (dashed.includes(text)) return following;
  const long = dashed.find((option) => text.startsWith(`${option}=`));
  if (long !== undefined) return [tailOf(word, long.length + 1)];
  if (!isLetter || text.startsWith('--')) return [];
  const at = text.indexOf(name, 1);
  if (at === -1) return [];
  return at === text.length - 1 && word.value !== null ? following : [tailOf(word, at + 1)];
}

function tailOf({ source, value, start }: ShellWord, length: number): ShellWord {
  return { source, value: value?.slice(length) ?? null, start: start.slice(length) };
}
