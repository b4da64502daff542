/**
 * Paths of the parent's checkout in a shell command. A path that stands there as it is, after a space, a quote, `=` or
 * the like, is replaced. Where that could change what the command means (text that it writes, `..`, a name that needs
 * quotes), nothing runs, and the agent is told the path to use. No shell grammar is loaded: this runs with every
 * command of an agent in a worktree, and only finds what is written out. What a command computes, the sandbox stops.
 * The pattern of a search stays as it is and is told; a script of sed or awk that names such a path does not run.
 */
import { type InheritedPlaces, inheritedPath } from '../../permission/inherited-path.ts';

const WORD = /(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'";|&()<>\\])+|[;|&()\n]|[<>]+/g;

const SEPARATOR = /^[;|&()\n]$/;

const PATTERNS: ReadonlySet<string> = new Set(['grep', 'egrep', 'fgrep', 'zgrep', 'rg', 'ag', 'ack']);

const SCRIPTS: ReadonlySet<string> = new Set(['sed', 'gsed', 'awk', 'gawk', 'mawk', 'nawk', 'perl']);

const GIVES_PATTERN = /^(?:-[a-zA-Z]*e|--regexp|--expression)$/;

const HOLDS_PATTERN = /^(?:--regexp|--expression)=/;

const FROM_FILE = /^(?:-[a-zA-Z]*f|--file)(?:$|=)/;

const COUNT = /^\d+$/;

export interface TranslatedPath {
  given: string;
  used: string;
}

/** Where the call would be carried out. */
export interface CallPlace {
  places: InheritedPlaces;
  cwd: string;
  /** What `~` stands for. */
  home: string | undefined;
}

export interface CommandPaths {
  /** Null where the paths cannot be replaced safely. */
  command: string | null;
  paths: TranslatedPath[];
  /** Those that stay as they are: what a search looks for. */
  left: string[];
}

/** A word, or a part of one, that has a slash. */
const PATH = /(?:~(?=\/)|\$HOME(?=\/)|\$\{HOME\}(?=\/))?[^\s'"`;&|<>(){}=:,$\\~]*\/[^\s'"`;&|<>(){}=:,$\\]*/g;
const HOME = /^(?:~|\$HOME|\$\{HOME\})(?=\/)/;
const HEREDOC = /<<-?\s*["'\\]?\w/;
const PLAIN = /^[\w./@+-]+$/;

/** Null for a command that names no such path. */
export function inheritedCommand(command: string, place: CallPlace): CommandPaths | null {
  const { places, cwd, home } = place;
  const heredoc = HEREDOC.exec(command)?.index ?? Number.POSITIVE_INFINITY;
  const paths: TranslatedPath[] = unusualSpellings(command, places);
  const left: string[] = [];
  let patterns: readonly PatternWord[] | undefined;
  let isSafe = paths.length === 0 && PLAIN.test(places.root);
  const replaced = command.replace(PATH, (given, offset: number) => {
    const path = home === undefined ? given : given.replace(HOME, home);
    if (!path.startsWith('/') && !path.includes('..')) return given;
    const used = inheritedPath(places, path, cwd);
    if (used === null) return given;
    patterns ??= patternWords(command);
    const word = patterns.find(({ start, end }) => start <= offset && offset < end);
    if (word?.kind === 'pattern') {
      left.push(given);
      return given;
    }
    paths.push({ given, used });
    isSafe &&= word === undefined;
    isSafe &&= path.startsWith('/') && !path.startsWith('//') && offset < heredoc;
    return path.endsWith('/') ? `${used}/` : used;
  });
  if (paths.length === 0 && left.length === 0) return null;
  return { command: isSafe ? replaced : null, paths, left };
}

/** A checkout whose name needs quotes. */
function unusualSpellings(
  command: string,
  { root, from, inherited = [] }: InheritedPlaces,
): TranslatedPath[] {
  return [from, ...inherited]
    .filter((checkout) => !PLAIN.test(checkout))
    .filter((checkout) =>
      [checkout, checkout.replace(/[^\w./@+-]/g, '\\$&')].some((text) => command.includes(text)),
    )
    .map((checkout) => ({ given: checkout, used: root }));
}

/**
 * The words of a command in which a path is text to be looked for, or a program of its own (FORK-6): the pattern of
 * grep and rg, the script of sed and awk. Found without a shell grammar, as everything here: words between spaces, with
 * their quotes, up to the next `;`, `|` or `&`.
 */
interface PatternWord {
  readonly start: number;
  readonly end: number;
  /** A pattern only matches; a script can open files. */
  readonly kind: 'pattern' | 'script';
}

type Word = Pick<PatternWord, 'start' | 'end'> & { readonly text: string };

function patternWords(command: string): PatternWord[] {
  const found: PatternWord[] = [];
  let simple: Word[] = [];
  for (const match of command.matchAll(WORD)) {
    const [text] = match;
    if (SEPARATOR.test(text)) {
      found.push(...wordsOf(simple));
      simple = [];
    } else simple.push({ text, start: match.index, end: match.index + text.length });
  }
  return [...found, ...wordsOf(simple)];
}

function wordsOf(words: readonly Word[]): PatternWord[] {
  const at = words.findIndex(({ text }) => PATTERNS.has(nameOf(text)) || SCRIPTS.has(nameOf(text)));
  const program = words[at];
  if (program === undefined) return [];
  const kind = PATTERNS.has(nameOf(program.text)) ? 'pattern' : 'script';
  const rest = words.slice(at + 1);
  const given = rest.filter(
    ({ text }, index) => HOLDS_PATTERN.test(text) || GIVES_PATTERN.test(rest[index - 1]?.text ?? ''),
  );
  const isGiven = given.length > 0 || rest.some(({ text }) => FROM_FILE.test(text));
  const first = rest.find(({ text }) => !text.startsWith('-') && !COUNT.test(text));
  const chosen = isGiven || first === undefined ? given : [first];
  return chosen.map(({ start, end }) => ({ start, end, kind }));
}

function nameOf(text: string): string {
  return text.slice(text.lastIndexOf('/') + 1);
}
