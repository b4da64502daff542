/**
 * JSON as people write it in settings: comments and trailing commas are allowed, everything else is strict. A
 * parser of our own, because `JSON.parse` knows neither lines nor duplicate keys, and a YAML parser would accept
 * far more than the schema that editors check against. It remembers the line of every value, so that errors can name
 * it.
 *
 * 1. A key that stands twice is an error: no reader can know which of the two was meant.
 * 2. Nesting is bounded, so no input overflows the stack.
 */
import { quoted } from './setting-value.ts';

export interface PositionedJson {
  value: unknown;
  /** The line of the value at `path`, or of the nearest one around it. */
  lineOf(path: readonly PropertyKey[]): number;
  /** Where exactly the value at `path` begins in the text; undefined if there is no such value. */
  offsetOf(path: readonly PropertyKey[]): number | undefined;
}

export class JsonMistake extends Error {
  readonly line: number;
  readonly column: number;

  constructor(line: number, message: string, column = 1) {
    super(message);
    this.name = 'JsonMistake';
    this.line = line;
    this.column = column;
  }
}

const DEEPEST = 32;
const BLANK = /(?:[ \t\r\n]+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters end a string that was not closed.
const STRING = /"[^"\\\u0000-\u001f]*(?:\\.[^"\\\u0000-\u001f]*)*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[\w$]+/y;
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** Throws a JsonMistake. */
export function parsePositionedJson(text: string): PositionedJson {
  const parser = new Parser(text);
  const value = parser.document();
  const { lines, offsets } = parser;
  return {
    value,
    offsetOf: (path) => offsets.get(placeOf(path)),
    lineOf(path) {
      for (let length = path.length; length > 0; length--) {
        const line = lines.get(placeOf(path.slice(0, length)));
        if (line !== undefined) return line;
      }
      return 1;
    },
  };
}

function placeOf(path: readonly PropertyKey[]): string {
  return JSON.stringify(path.map(String));
}

class Parser {
  readonly #text: string;
  readonly lines: Map<string, number> = new Map();
  readonly offsets: Map<string, number> = new Map();
  readonly #path: PropertyKey[] = [];
  #at = 0;
  /** Lines are counted forwards only: the line of the last place that was asked for, and where it ends. */
  #counted: { line: number; end: number };

  constructor(text: string) {
    this.#text = text;
    this.#counted = { line: 1, end: endOfLine(text, 0) };
  }

  document(): unknown {
    this.#blank();
    if (this.#at === this.#text.length) throw this.#mistake('it is empty: write {} or remove it');
    const value = this.#value();
    this.#blank();
    if (this.#at < this.#text.length) throw this.#mistake(`there is more after the end: ${this.#next()}`);
    return value;
  }

  #value(): unknown {
    if (this.#path.length > DEEPEST) throw this.#mistake(`it is nested deeper than ${DEEPEST} levels`);
    const place = placeOf(this.#path);
    this.lines.set(place, this.#line());
    this.offsets.set(place, this.#at);
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object();
      case '[':
        return this.#array();
      case '"':
        return this.#string();
      default:
        return this.#numberOrWord();
    }
  }

  #object(): Record<string, unknown> {
    const members = new Map<string, unknown>();
    const firstLines = new Map<string, number>();
    this.#items('}', () => {
      if (this.#text[this.#at] !== '"')
        throw this.#mistake(`a key in quotes should be here: ${this.#next()}`);
      const line = this.#line();
      const key = this.#string();
      const first = firstLines.get(key);
      if (first !== undefined) throw new JsonMistake(line, twice(key, first));
      if (key === '__proto__') throw new JsonMistake(line, 'the key "__proto__" is not allowed');
      firstLines.set(key, line);
      this.#blank();
      if (this.#text[this.#at] !== ':') throw this.#mistake(`a colon is missing after ${quoted(key)}`);
      this.#at += 1;
      this.#blank();
      members.set(key, this.#inside(key));
    });
    return Object.fromEntries(members);
  }

  #array(): unknown[] {
    const values: unknown[] = [];
    this.#items(']', () => values.push(this.#inside(values.length)));
    return values;
  }

  /** What stands between two brackets, separated by commas; one more may follow the last. */
  #items(close: string, item: () => void): void {
    const opened = this.#line();
    this.#at += 1;
    for (let separated = true; ; ) {
      this.#blank();
      const next = this.#text[this.#at];
      if (next === close) break;
      if (next === undefined) throw this.#mistake(`the bracket of line ${opened} is not closed`);
      if (!separated) throw this.#mistake(`a comma is missing before ${this.#next()}`);
      item();
      this.#blank();
      separated = this.#text[this.#at] === ',';
      if (separated) this.#at += 1;
    }
    this.#at += 1;
  }

  #inside(key: PropertyKey): unknown {
    this.#path.push(key);
    const value = this.#value();
    this.#path.pop();
    return value;
  }

  #string(): string {
    const token = this.#take(STRING);
    if (token === undefined) throw this.#mistake('a string is not closed on its line');
    try {
      return String(JSON.parse(token));
    } catch {
      throw this.#mistake('a string has a backslash that stands for nothing; write \\\\ for one backslash');
    }
  }

  #numberOrWord(): unknown {
    const number = this.#take(NUMBER);
    if (number !== undefined) return Number(number);
    const start = this.#at;
    const word = this.#take(WORD) ?? '';
    if (WORDS.has(word)) return WORDS.get(word);
    this.#at = start;
    throw this.#mistake(`a value should be here: ${this.#next()}`);
  }

  #blank(): void {
    this.#take(BLANK);
    if (this.#text.startsWith('/*', this.#at)) throw this.#mistake('a comment is not closed');
  }

  #take(token: RegExp): string | undefined {
    token.lastIndex = this.#at;
    const found = token.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #line(): number {
    let { line, end } = this.#counted;
    for (; end < this.#at; line++) end = endOfLine(this.#text, end + 1);
    this.#counted = { line, end };
    return line;
  }

  /** One character, not more: the file may be a link to something that is not to be shown. */
  #next(): string {
    const next = this.#text.codePointAt(this.#at);
    return next === undefined ? 'the file ends' : quoted(String.fromCodePoint(next));
  }

  #mistake(message: string): JsonMistake {
    const column = this.#at - this.#text.lastIndexOf('\n', this.#at - 1);
    return new JsonMistake(this.#line(), message, this.#at === 0 ? 1 : column);
  }
}

/** The last line has none, and is not searched again for each place in it. */
function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

function twice(key: string, firstLine: number): string {
  return `the key ${quoted(key)} stands twice (first on line ${firstLine}): keep one`;
}
