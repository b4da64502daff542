/**
 * The words of a command in which a path is text to be looked for, or a program of its own (FORK-6): the pattern of grep and
 * rg, the script of sed and awk. Found without a shell grammar, as everything here: words between spaces, with their
 * quotes, up to the next `;`, `|` or `&`.
 */
export interface PatternWord {
  readonly start: number;
  readonly end: number;
  /** A pattern only matches; a script can open files. */
  readonly kind: 'pattern' | 'script';
}

const WORD = /(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'";|&()<>\\])+|[;|&()\n]|[<>]+/g;
const SEPARATOR = /^[;|&()\n]$/;
const PATTERNS: ReadonlySet<string> = new Set(['grep', 'egrep', 'fgrep', 'zgrep', 'rg', 'ag', 'ack']);
const SCRIPTS: ReadonlySet<string> = new Set(['sed', 'gsed', 'awk', 'gawk', 'mawk', 'nawk', 'perl']);
const GIVES_PATTERN = /^(?:-[a-zA-Z]*e|--regexp|--expression)$/;
const HOLDS_PATTERN = /^(?:--regexp|--expression)=/;
const FROM_FILE = /^(?:-[a-zA-Z]*f|--file)(?:$|=)/;
const COUNT = /^\d+$/;

type Word = Pick<PatternWord, 'start' | 'end'> & { readonly text: string };

export function patternWords(command: string): PatternWord[] {
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
