/**
 * A script of a shell, read as far as that can be done without knowing all of the language: for who follows the files that it
 * loads, and judges nothing by it. What a command may do is for `script-words.ts`, which reads exactly or not at all.
 *
 * Invariants
 * 1. Commands are found wherever they stand: in functions, loops, branches, substitutions.
 * 2. What is not understood is passed over and makes the script not `isWhole`; nothing is thrown.
 */
import { LooseCursor, type LooseFinds } from './reading/loose-cursor.ts';
import type { ShellAssignment } from './reading/shell-reading.ts';

/** With words as they are written. */
export interface LooseCommand {
  readonly words: readonly string[];
  /** A here-document that it reads. */
  readonly body: string | null;
  /** A text that it reads: `<<< WORD`. */
  readonly given: string | null;
  /** A file that it reads in place of what is typed. */
  readonly input: string | null;
}

export interface LooseScript {
  readonly commands: readonly LooseCommand[];
  /** What it sets, wherever that is. */
  readonly variables: readonly ShellAssignment[];
  /** Names of its own commands. */
  readonly functions: ReadonlySet<string>;
  /** Files that redirects write. */
  readonly outputs: readonly string[];
  readonly isWhole: boolean;
}

const DEEPEST = 8;
const PASSED = new Set('if then elif else fi while until do done ! time { } coproc'.split(' '));
const ASSIGNS = /^([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=/;
const DECLARES = /^(?:export|declare|typeset|local|readonly)$/;
const REDIRECTS = /\d*(?:<<<|<<-?|<>|[<>]&|>>|>\||<|>)|&>>?/y;
const REST_OF_LINE = /[^\n]*/y;

export function looseScript(text: string): LooseScript {
  const reading = new LooseReading();
  reading.list(text, 0);
  return reading;
}

interface Heredoc {
  readonly delimiter: string;
  /** Nothing in it is expanded. */
  readonly isQuoted: boolean;
  readonly hasTabs: boolean;
  readonly at: number;
}

class LooseReading implements LooseScript {
  readonly commands: LooseCommand[] = [];
  readonly variables: ShellAssignment[] = [];
  readonly functions: Set<string> = new Set();
  readonly outputs: string[] = [];
  isWhole = true;

  list(text: string, depth: number): void {
    if (depth > DEEPEST) this.isWhole = false;
    else new LooseList(this, text, depth).read();
  }

  assign(word: string): void {
    const [before = '', name = ''] = ASSIGNS.exec(word) ?? [];
    const source = word.slice(before.length);
    if (source.startsWith('('))
      for (const one of listed(source)) this.variables.push({ name, value: null, source: one });
    else this.variables.push({ name, value: null, ...(!before.endsWith('+=') && { source }) });
  }
}

/** The words of `(a "b c")`. */
function listed(source: string): string[] {
  const inner = source.slice(1, -1);
  const cursor = new LooseCursor(inner, { isWhole: true, code: () => {} });
  const found: string[] = [];
  while (cursor.at < inner.length)
    if (cursor.match(/[\s;&|()<>]+|#[^\n]*/y) === null) found.push(cursor.take());
  return found;
}

class LooseList {
  readonly #found: LooseReading;
  readonly #text: string;
  readonly #finds: LooseFinds;
  readonly #cursor: LooseCursor;
  #words: string[] = [];
  #input: string | null = null;
  #given: string | null = null;
  #heredocs: Heredoc[] = [];
  /** Of each open `case`. */
  #cases = 0;

  constructor(found: LooseReading, text: string, depth: number) {
    this.#found = found;
    this.#text = text;
    this.#finds = {
      get isWhole() {
        return found.isWhole;
      },
      set isWhole(isWhole) {
        found.isWhole = isWhole;
      },
      code: (inner) => found.list(inner, depth + 1),
    };
    this.#cursor = new LooseCursor(text, this.#finds);
  }

  read(): void {
    while (this.#cursor.at < this.#text.length) this.#step();
    this.#end();
    if (this.#heredocs.length > 0 || this.#cases > 0) this.#found.isWhole = false;
  }

  #step(): void {
    const sign = this.#text[this.#cursor.at] ?? '';
    if (this.#text.startsWith('\\\n', this.#cursor.at)) this.#cursor.at += 2;
    else if (sign === '\n') this.#line();
    else if (/\s/.test(sign)) this.#cursor.at += 1;
    else if (sign === '#') this.#cursor.match(REST_OF_LINE);
    else if (/^[<>]\($/.test(this.#text.slice(this.#cursor.at, this.#cursor.at + 2))) this.#word();
    else if (this.#redirect()) return;
    else if (sign === '(') this.#parenthesis();
    else if (/[;&|)]/.test(sign)) this.#separator();
    else this.#word();
  }

  #line(): void {
    this.#end();
    this.#cursor.at += 1;
    for (const { delimiter, isQuoted, hasTabs, at } of this.#heredocs.splice(0)) {
      const lines: string[] = [];
      for (;;) {
        if (this.#cursor.at >= this.#text.length) {
          this.#found.isWhole = false;
          break;
        }
        const line = this.#cursor.match(REST_OF_LINE) ?? '';
        this.#cursor.at += 1;
        if ((hasTabs ? line.replace(/^\t+/, '') : line) === delimiter) break;
        lines.push(line);
      }
      const [command, body] = [this.#found.commands[at], lines.join('\n')];
      if (command !== undefined) this.#found.commands[at] = { ...command, body };
      if (!isQuoted) new LooseCursor(body, this.#finds).expansions();
    }
  }

  #end(): void {
    const [words, input, given] = [this.#words, this.#input, this.#given];
    [this.#words, this.#input, this.#given] = [[], null, null];
    const [first = '', second = ''] = words;
    if (DECLARES.test(first)) for (const word of words) if (ASSIGNS.test(word)) this.#found.assign(word);
    if (first === 'read' || first === 'mapfile' || first === 'readarray')
      for (const name of words.slice(1).filter((one) => /^\w+$/.test(one)))
        this.#found.variables.push({ name, value: null });
    if (first === 'printf' && second === '-v')
      this.#found.variables.push({ name: words[2] ?? '', value: null });
    if (words.length > 0) this.#found.commands.push({ words, input, given, body: null });
  }

  #separator(): void {
    const isCase =
      this.#cases > 0 && /^;(?:;&?|&)/.test(this.#text.slice(this.#cursor.at, this.#cursor.at + 3));
    this.#end();
    this.#cursor.at += isCase
      ? /^;;&/.test(this.#text.slice(this.#cursor.at, this.#cursor.at + 3))
        ? 3
        : 2
      : 1;
    if (isCase) this.#pattern();
  }

  /** A function, a calculation or commands of their own. */
  #parenthesis(): void {
    const [name] = this.#words;
    if (this.#words.length === 1 && name !== undefined && this.#cursor.match(/\(\s*\)/y) !== null) {
      this.#found.functions.add(name);
      this.#words = [];
    } else if (this.#text.startsWith('((', this.#cursor.at) && /^(?:|for)$/.test(this.#words.join(' '))) {
      this.#cursor.bracket();
      this.#words = [];
    } else {
      this.#end();
      this.#cursor.at += 1;
    }
  }

  #redirect(): boolean {
    const sign = this.#cursor.match(REDIRECTS);
    if (sign === null) return false;
    this.#cursor.match(/[ \t]*/y);
    const word = this.#cursor.take();
    const [operator = ''] = /[<>].*/.exec(sign) ?? [];
    if (operator.startsWith('<<') && operator !== '<<<')
      this.#heredocs.push({
        delimiter: word.replace(/["'\\]/g, ''),
        isQuoted: /["'\\]/.test(word),
        hasTabs: operator === '<<-',
        at: this.#found.commands.length,
      });
    else if (operator === '<<<') this.#given = word;
    else if (operator === '<') this.#input = word;
    else if (operator.startsWith('>') && !operator.endsWith('&')) this.#found.outputs.push(word);
    return true;
  }

  #word(): void {
    const word = this.#cursor.take();
    if (this.#words.length > 0) this.#words.push(word);
    else if (ASSIGNS.test(word)) this.#assign(word);
    else if (word === 'case') this.#case();
    else if (word === 'esac' && this.#cases > 0) this.#cases -= 1;
    else if (word === 'for' || word === 'select') this.#loop();
    else if (word === 'function') this.#function();
    else if (word === '[[') this.#condition();
    else if (!PASSED.has(word)) this.#words.push(word);
  }

  /** It may be for one command only, which is read like any other. */
  #assign(word: string): void {
    const list = word.endsWith('=') && this.#text[this.#cursor.at] === '(' ? this.#cursor.bracket() : '';
    this.#found.assign(word + list);
  }

  #function(): void {
    this.#cursor.match(/[ \t]*/y);
    this.#found.functions.add(this.#cursor.take());
    this.#cursor.match(/\s*\(\s*\)/y);
  }

  #loop(): void {
    this.#cursor.match(/[ \t]*/y);
    if (this.#text.startsWith('((', this.#cursor.at)) {
      this.#parenthesis();
      return;
    }
    const name = this.#cursor.take();
    this.#cursor.match(/\s*/y);
    const isListed = this.#cursor.match(/in(?=\s|;)/y) !== null;
    if (!isListed) this.#found.variables.push({ name, value: null });
    while (isListed && this.#cursor.match(/(?:[ \t]|\\\n)*(?=[^\s;&|()<>#])/y) !== null)
      this.#found.variables.push({ name, value: null, source: this.#cursor.take() });
  }

  #case(): void {
    this.#cursor.match(/\s*/y);
    this.#cursor.take();
    if (this.#cursor.match(/\s+in(?=\s)/y) === null) {
      this.#found.isWhole = false;
      return;
    }
    this.#cases += 1;
    this.#pattern();
  }

  /** Up to the sign behind it, or the end of the `case`. */
  #pattern(): void {
    for (let isFirst = true; this.#cursor.at < this.#text.length; isFirst = false) {
      if (this.#cursor.match(/(?:\s|\\\n|#[^\n]*\n)+/y) !== null && isFirst) this.#cursor.match(/\(\s*/y);
      if (this.#cursor.match(/\)/y) !== null) return;
      if (this.#cursor.match(/[|(&;<>]/y) !== null) continue;
      if (this.#cursor.take() === 'esac' && isFirst) {
        this.#cases -= 1;
        return;
      }
    }
  }

  #condition(): void {
    while (this.#cursor.at < this.#text.length) {
      if (this.#cursor.match(/(?:\s|\\\n|[()<>|&;])+/y) !== null) continue;
      if (this.#cursor.take() === ']]') return;
    }
    this.#found.isWhole = false;
  }
}
