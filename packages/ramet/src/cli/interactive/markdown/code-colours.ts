/**
 * Colours for the lines of a code block: comments, texts, numbers, keywords. A line is coloured once, when it is complete,
 * with what is left open before it as the only memory. It knows families of languages and not their grammars.
 */
import { type Look, type Paint, paint } from './look.ts';

/** What a line leaves open: the mark that ends it, and how it looks. Null when nothing is open. */
export interface OpenText {
  readonly end: string;
  readonly paint: Paint;
}

interface Family {
  /** Marks that make the rest of the line a comment. */
  readonly comments: readonly string[];
  /** Comments and texts that may take several lines. */
  readonly blocks: readonly (readonly [start: string, end: string, paint: Paint])[];
  readonly quotes: string;
  readonly words: ReadonlySet<string>;
  readonly ignoresCase?: true;
}

const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));
const C_COMMENT = ['/*', '*/', 'dim'] as const;

const CURLY = words(
  `abstract as async await auto base bool boolean break byte case catch char class const constexpr continue debugger
  declare default defer delete do double else enum explicit export extends extern fallthrough false final finally float
  fn for foreach from func function get go goto if impl implements import in inline instanceof int interface internal
  is keyof let long loop map match mod module move mut namespace native new nil null nullptr object of operator out
  override package private protected pub public range readonly ref return satisfies sealed select self Self set short
  signed sizeof static string struct super switch synchronized template this throw throws trait true try type typedef
  typename typeof undefined union unsafe unsigned use using val var virtual void volatile when where while with yield`,
);
const PYTHON = words(
  `and as assert async await break case class continue def del elif else except False finally for from global if import
  in is lambda match None nonlocal not or pass raise return self True try while with yield`,
);
const SHELL = words(
  `alias case cd do done echo elif else esac eval exec exit export fi for function if in local read readonly return set
  shift source then trap unset until while`,
);
const SQL = words(
  `add all alter and as asc begin between by case check column commit constraint create cross default delete desc distinct
  drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null
  offset on or order outer primary references returning right rollback select set table then union unique update using
  values view when where with`,
);
const RUBY = words(
  `alias and begin break case class def do else elsif end ensure false for if in local module next nil not or redo require
  rescue retry return self super then true undef unless until when while yield function repeat`,
);
const PLAIN_WORDS = words('true false null yes no on off');

const FAMILIES: readonly (readonly [languages: string, family: Family])[] = [
  [
    `ts tsx typescript js jsx javascript mjs cjs mts cts c h cpp c++ cc hpp cs csharp java kotlin kt swift go golang rust rs
    scala php dart proto protobuf groovy gradle zig objc css scss less jsonc json5 solidity`,
    { comments: ['//'], blocks: [C_COMMENT, ['`', '`', 'green']], quotes: `"'`, words: CURLY },
  ],
  [
    'py python python3 pyi starlark bzl',
    {
      comments: ['#'],
      blocks: [
        ['"""', '"""', 'green'],
        ["'''", "'''", 'green'],
      ],
      quotes: `"'`,
      words: PYTHON,
    },
  ],
  [
    'sh bash zsh shell console fish dockerfile docker makefile make',
    { comments: ['#'], blocks: [], quotes: `"'`, words: SHELL },
  ],
  [
    'sql postgres postgresql mysql sqlite',
    { comments: ['--'], blocks: [C_COMMENT], quotes: `'"`, words: SQL, ignoresCase: true },
  ],
  ['rb ruby lua perl pl elixir ex', { comments: ['#', '--'], blocks: [], quotes: `"'`, words: RUBY }],
  [
    'json yaml yml toml ini conf properties env hcl tf terraform',
    { comments: ['#', ';'], blocks: [], quotes: `"'`, words: PLAIN_WORDS },
  ],
  [
    'html xml svg vue svelte markdown md',
    { comments: [], blocks: [['<!--', '-->', 'dim']], quotes: `"`, words: words('') },
  ],
];

const BY_LANGUAGE = new Map(
  FAMILIES.flatMap(([languages, family]) => languages.split(/\s+/).map((name) => [name, family] as const)),
);

/** Beyond this a line is data, and shown plain. */
const LONGEST_LINE = 2_000;

export function colouredLine(
  line: string,
  language: string,
  open: OpenText | null,
  look: Look,
): { text: string; open: OpenText | null } {
  if (!look.colours || line.length > LONGEST_LINE) return { text: line, open };
  if (language === 'diff' || language === 'patch') return { text: diffLine(line, look), open: null };
  const family = BY_LANGUAGE.get(language);
  return family === undefined ? { text: line, open: null } : new LineReader(line, family, look).read(open);
}

function diffLine(line: string, look: Look): string {
  if (line.startsWith('+')) return paint(line, ['green'], look);
  if (line.startsWith('-')) return paint(line, ['red'], look);
  return line.startsWith('@@') ? paint(line, ['cyan'], look) : line;
}

const WORD = /[\p{L}_$][\p{L}\p{N}_$]*/uy;
const NUMBER = /(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)[a-zA-Z]{0,3}/y;

class LineReader {
  readonly #line: string;
  readonly #family: Family;
  readonly #look: Look;
  #text = '';
  #at = 0;

  constructor(line: string, family: Family, look: Look) {
    this.#line = line;
    this.#family = family;
    this.#look = look;
  }

  read(before: OpenText | null): { text: string; open: OpenText | null } {
    let open = before === null ? null : this.#takeUntil(before, 0);
    while (open === null && this.#at < this.#line.length) open = this.#step();
    return { text: this.#text, open };
  }

  /** Takes what belongs to an open comment or text; returns it when the line ends before it does. */
  #takeUntil(open: OpenText, skip: number): OpenText | null {
    const end = this.#line.indexOf(open.end, this.#at + skip);
    this.#take(end === -1 ? this.#line.length : end + open.end.length, open.paint);
    return end === -1 ? open : null;
  }

  #step(): OpenText | null {
    const { comments, blocks, quotes, words: known, ignoresCase } = this.#family;
    const line = this.#line;
    for (const [start, end, look] of blocks) {
      if (line.startsWith(start, this.#at)) return this.#takeUntil({ end, paint: look }, start.length);
    }
    const isAlone = this.#at === 0 || /[\s;({]/.test(line[this.#at - 1] ?? '');
    const char = line[this.#at] ?? '';
    const comment = comments.find((mark) => line.startsWith(mark, this.#at));
    if (comment !== undefined && (isAlone || comment === '//')) this.#take(line.length, 'dim');
    else if (quotes.includes(char)) this.#take(this.#endOfQuote(char), 'green');
    else {
      const word = matchAt(WORD, line, this.#at);
      const number = word === null ? matchAt(NUMBER, line, this.#at) : null;
      if (word !== null) {
        const isKnown = known.has(ignoresCase === true ? word.toLowerCase() : word);
        this.#take(this.#at + word.length, isKnown ? 'magenta' : null);
      } else if (number !== null) this.#take(this.#at + number.length, 'yellow');
      else this.#take(this.#at + 1, null);
    }
    return null;
  }

  /** A quote without an end on its line, such as an apostrophe, quotes nothing. */
  #endOfQuote(quote: string): number {
    for (let at = this.#at + 1; at < this.#line.length; at += 1) {
      if (this.#line[at] === '\\') at += 1;
      else if (this.#line[at] === quote) return at + 1;
    }
    return this.#at + 1;
  }

  #take(end: number, look: Paint | null): void {
    const part = this.#line.slice(this.#at, end);
    this.#text += look === null ? part : paint(part, [look], this.#look);
    this.#at = end;
  }
}

function matchAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}
