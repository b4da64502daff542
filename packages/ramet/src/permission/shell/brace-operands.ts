/** Words of a command with the names that the shell makes of braces: `{a,b}.md` is two of them. */
import { alternatives, hasBraces } from './reading/expand-braces.ts';
import { expandWord } from './reading/expand-word.ts';
import type { ShellWord } from './reading/shell-word.ts';

const MOST_NAMES = 1_024;
const WIDEST_RANGE = 1_000;
/** Stands for names that are too many to write out. */
const TOO_MANY = '{…}';
const TOO_MANY_WORDS: ShellWord = { source: TOO_MANY, value: null, start: '' };

/** Only what braces make; a variable or a pattern in one of them stays open. */
export function bracesExpanded(words: readonly ShellWord[], cwd: string): readonly ShellWord[] {
  return words.flatMap((word): ShellWord | ShellWord[] => {
    if (word.value !== null || !word.source.includes('{')) return word;
    const source = word.source.replace(RANGE, ranged);
    const made = RANGE_LEFT.test(source) ? [source] : alternatives(source, MOST_NAMES);
    if (made.some((each) => hasBraces(each))) return TOO_MANY_WORDS;
    if (source === word.source && made.length === 1) return word;
    // The shell drops an empty one that no quotes hold: `{docs/a,}` is one name.
    return made.filter((each) => each !== '').map((each) => asWord(each, cwd));
  });
}

/** It names more files than can be held against rules. */
export function namesTooMany(words: readonly ShellWord[]): boolean {
  return words.some(({ source }) => source === TOO_MANY);
}

function asWord(source: string, cwd: string): ShellWord {
  const scene = {
    variables: [],
    directories: [cwd],
    root: cwd,
    temporary: '/tmp',
    gitDirectories: () => null,
  };
  const [only, ...more] = expandWord({ source, value: null, start: '' }, scene);
  if (only === undefined || more.length > 0 || only.lead !== null || !only.exact)
    return { source, value: null, start: /^[\w./-]*/.exec(source)?.[0] ?? '' };
  return { source, value: only.text, start: only.text };
}

const RANGE = /(?<!\$)\{(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?\}/g;
const RANGE_LEFT = /(?<!\$)\{-?\w+\.\.-?\w+(?:\.\.-?\d+)?\}/;

/** `{1..3}` as `{1,2,3}`; as it is where it is too wide. */
function ranged(whole: string, first: string, last: string, step = '1'): string {
  const isNumber = /\d$/.test(first);
  if (isNumber !== /\d$/.test(last)) return whole;
  const [from, to] = [first, last].map((end) => (isNumber ? Number(end) : end.charCodeAt(0)));
  const by = Math.max(1, Math.abs(Number(step)));
  if (from === undefined || to === undefined || Math.abs(to - from) / by > WIDEST_RANGE) return whole;
  const isPadded = isNumber && [first, last].some((end) => /^-?0\d/.test(end));
  const width = isPadded ? Math.max(first.length, last.length) : 0;
  const count = Math.floor(Math.abs(to - from) / by) + 1;
  const made = Array.from({ length: count }, (_, index) => from + Math.sign(to - from) * by * index);
  const names = made.map((each) => (isNumber ? padded(each, width) : String.fromCharCode(each)));
  return names.length === 1 ? (names[0] ?? '') : `{${names.join(',')}}`;
}

function padded(number: number, width: number): string {
  return number < 0
    ? `-${String(-number).padStart(Math.max(0, width - 1), '0')}`
    : String(number).padStart(width, '0');
}
