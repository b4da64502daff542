/** Where the words of a script end that is read as far as it can be: with its quotes, expansions and the commands inside these. */

export interface LooseFinds {
  /** Everything was understood. */
  isWhole: boolean;
  /** Gets the commands inside a word. */
  code(text: string): void;
}

const DEEPEST = 40;
const REST_OF_LINE = /[^\n]*/y;
const ENDS_WORD = /[\s;&|()<>]/;

export class LooseCursor {
  at = 0;
  readonly #text: string;
  readonly #found: LooseFinds;

  #depth: number;

  constructor(text: string, found: LooseFinds, depth = 0) {
    this.#text = text;
    this.#found = found;
    this.#depth = depth;
  }

  /** Passes over what matches here; `pattern` is sticky. */
  match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found !== undefined) this.at += found.length;
    return found ?? null;
  }

  /** One word as it is written; commands inside it are read, too. */
  take(): string {
    const from = this.at;
    while (this.at < this.#text.length) {
      const sign = this.#text[this.at] ?? '';
      const isFed = /[<>]/.test(sign) && this.at === from && this.#text[this.at + 1] === '(';
      if (isFed) this.at += 1;
      if (isFed) this.bracket(true);
      else if (ENDS_WORD.test(sign)) break;
      else this.#part();
    }
    // No sign may be left that nobody takes.
    if (this.at === from) this.at += 1;
    return this.#text.slice(from, this.at).trim();
  }

  /** A character, or what stands between quotes or belongs to an expansion. */
  #part(): void {
    if (++this.#depth > DEEPEST) this.#giveUp();
    const sign = this.#text[this.at];
    if (sign === '\\') this.at += 2;
    else if (sign === "'") this.#until("'");
    else if (sign === '"') this.#double();
    else if (sign === '`') this.#backticks();
    else if (sign === '$') this.#expansion();
    else this.at += 1;
    this.#depth -= 1;
  }

  #giveUp(): void {
    this.#found.isWhole = false;
    this.at = this.#text.length;
  }

  #until(sign: string): void {
    const end = this.#text.indexOf(sign, this.at + 1);
    this.#found.isWhole &&= end !== -1;
    this.at = end === -1 ? this.#text.length : end + 1;
  }

  #double(): void {
    this.at += 1;
    while (this.at < this.#text.length && this.#text[this.at] !== '"')
      if (this.#text[this.at] === "'") this.at += 1;
      else this.#part();
    this.#found.isWhole &&= this.at < this.#text.length;
    this.at += 1;
  }

  #backticks(): void {
    const from = this.at + 1;
    for (this.at = from; this.at < this.#text.length && this.#text[this.at] !== '`'; this.at++)
      if (this.#text[this.at] === '\\') this.at += 1;
    this.#found.code(this.#text.slice(from, this.at).replace(/\\([\\`$])/g, '$1'));
    this.at += 1;
  }

  #expansion(): void {
    this.at += 1;
    if (this.#text.startsWith('((', this.at)) this.bracket();
    else if (this.#text[this.at] === '(') this.bracket(true);
    else if (this.#text[this.at] === '{') this.#braces();
    else if (this.#text[this.at] === "'") {
      for (this.at += 1; this.at < this.#text.length && this.#text[this.at] !== "'"; this.at++)
        if (this.#text[this.at] === '\\') this.at += 1;
      this.at += 1;
    } else if (/[\w@*#?$!-]/.test(this.#text[this.at] ?? '')) this.at += 1;
  }

  /** Reads the commands inside a text that has no quotes: a here-document. */
  expansions(): void {
    while (this.at < this.#text.length)
      if (/[\\$`]/.test(this.#text[this.at] ?? '')) this.#part();
      else this.at += 1;
  }

  /** Gives what is inside; `isCode`: commands. */
  bracket(isCode = false): string {
    const from = this.at;
    let depth = 0;
    while (this.at < this.#text.length) {
      const sign = this.#text[this.at] ?? '';
      if (sign === '(' || sign === ')') {
        depth += sign === '(' ? 1 : -1;
        this.at += 1;
        if (depth === 0) break;
      } else if (sign === '#' && /\s/.test(this.#text[this.at - 1] ?? '')) this.match(REST_OF_LINE);
      else this.#quiet(isCode);
    }
    this.#found.isWhole &&= depth === 0;
    const inner = this.#text.slice(from, this.at);
    if (isCode) this.#found.code(inner.slice(1, -1));
    return inner;
  }

  /** Code that is read as a whole is not read here as well. */
  #quiet(isCode: boolean): void {
    if (!isCode) {
      this.#part();
      return;
    }
    const apart = new LooseCursor(this.#text, { isWhole: true, code: () => {} }, this.#depth);
    apart.at = this.at;
    apart.#part();
    this.at = apart.at;
  }

  #braces(): void {
    let depth = 0;
    while (this.at < this.#text.length) {
      const sign = this.#text[this.at] ?? '';
      if (sign === '{' || sign === '}') {
        depth += sign === '{' ? 1 : -1;
        this.at += 1;
        if (depth === 0) return;
      } else if (/[&;|()<>\s]/.test(sign)) this.at += 1;
      else this.#part();
    }
    this.#found.isWhole = false;
  }
}
