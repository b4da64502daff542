/** Scripts for sed, which can run commands (`e`, the flag `e` of `s`) and write files (`w`). */
import type { ScriptWord } from '../../../permission/shell/script-words.ts';

export interface SedRuns {
  /** It runs a command, or what it reads as one. */
  readonly runs: boolean;
  /** Files that it writes. */
  readonly writes: readonly string[];
  /** A part of its script is known only when it runs. */
  readonly isOpen: boolean;
}

/** `fileText`: null for a script file that cannot be read, which then runs nothing either. */
export function sedRuns(
  words: readonly ScriptWord[],
  fileText: (name: string) => readonly string[],
): SedRuns {
  const { scripts, files, isOpen, isSandboxed } = scriptsOf(words);
  const texts = [scripts.join('\n'), ...files.flatMap(fileText)];
  if (isSandboxed) return { runs: false, writes: [], isOpen: false };
  const read = texts.flatMap((text) => readBoth(text));
  return {
    runs: read.some((one) => one === null || one.runs),
    writes: read.flatMap((one) => one?.writes ?? []),
    isOpen,
  };
}

interface SedScripts {
  readonly scripts: readonly string[];
  readonly files: readonly string[];
  readonly isOpen: boolean;
  readonly isSandboxed: boolean;
}

/** Letters that may stand before one with a value. */
const SHORT = /^-([bEnrsuz]*)([efl])(.*)$/s;
const LONG = /^--(expression|file)(?:=(.*))?$/s;

function scriptsOf(words: readonly ScriptWord[]): SedScripts {
  const scripts: string[] = [];
  const files: string[] = [];
  let operand: ScriptWord | null = null;
  let isOpen = false;
  let isSandboxed = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    const [text = ''] = word?.texts ?? [];
    if (/^--(?:sandbox)$/.test(text)) isSandboxed = true;
    const short = SHORT.exec(text);
    const long = LONG.exec(text);
    const how = short?.[2] ?? long?.[1]?.[0];
    if (how === undefined) {
      if (!(word?.start ?? '').startsWith('-')) operand ??= word ?? null;
      continue;
    }
    const inWord = short?.[3] || long?.[2];
    const value = inWord === undefined ? words[++at] : word;
    const told = inWord === undefined ? (value?.texts ?? []) : [inWord];
    if (how === 'e') scripts.push(...told);
    if (how === 'f') files.push(...told);
    isOpen ||= value?.open === 'unknown';
  }
  if (scripts.length === 0 && files.length === 0 && operand !== null) {
    scripts.push(...operand.texts);
    isOpen ||= operand.open !== null;
  }
  return { scripts, files, isOpen, isSandboxed };
}

interface ReadSed {
  readonly runs: boolean;
  readonly writes: readonly string[];
}

/** Programs differ in whether a bracket hides what ends an expression: what either way is read counts. */
function readBoth(text: string): (ReadSed | null)[] {
  const both = [new SedReading(text, true).read(), new SedReading(text, false).read()];
  return both.some((one) => one !== null) ? both.filter((one) => one !== null) : [null];
}

class SedReading {
  readonly #text: string;
  readonly #hasBrackets: boolean;
  #at = 0;
  #runs = false;
  readonly #writes: string[] = [];

  constructor(text: string, hasBrackets: boolean) {
    this.#text = text;
    this.#hasBrackets = hasBrackets;
  }

  /** Null for what cannot be read. */
  read(): ReadSed | null {
    while (this.#at < this.#text.length) {
      this.#take(/[\s;{}]*/y);
      if (this.#at >= this.#text.length) break;
      if (!this.#addresses() || !this.#command()) return null;
    }
    return { runs: this.#runs, writes: this.#writes };
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found = ''] = pattern.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }

  #addresses(): boolean {
    do {
      if (this.#take(/[/\\]/y) !== '') {
        const mark = this.#text[this.#at - 1] === '/' ? '/' : (this.#text[this.#at++] ?? '');
        if (!this.#section(mark, true)) return false;
        this.#take(/[IM]*/y);
      } else this.#take(/[$+~\d]+/y);
    } while (this.#take(/\s*,\s*/y) !== '');
    this.#take(/[\s!]*/y);
    return true;
  }

  /** Up to the mark that ends it. */
  #section(mark: string, isExpression: boolean): boolean {
    for (; this.#at < this.#text.length; this.#at++) {
      const sign = this.#text[this.#at];
      if (sign === '\\') this.#at++;
      else if (sign === mark) return this.#take(/[\s\S]/y) !== '';
      else if (sign === '[' && isExpression && this.#hasBrackets) {
        this.#take(/\[\^?\]?(?:\[[.:=].*?[.:=]\]|[^\]])*/y);
      }
    }
    return false;
  }

  #command(): boolean {
    const name = this.#take(/[\s\S]/y);
    if (/[dDgGhHnNpPxzF=]/.test(name)) return true;
    if (/[qQlL]/.test(name)) return this.#take(/[ \t]*\d*/y) !== null;
    if (/[btT:]/.test(name)) return this.#take(/[^\n;]*/y) !== null;
    if (/[aic]/.test(name)) return this.#take(/(?:\\[\s\S]|[^\\\n])*/y) !== null;
    if (/[#rRv]/.test(name)) return this.#take(/[^\n]*/y) !== null;
    if (/[{};\n]/.test(name)) return true;
    if (/[wW]/.test(name)) return this.#file();
    if (name === 'e') {
      this.#runs = true;
      return this.#take(/[^\n]*/y) !== null;
    }
    if (!/[sy]/.test(name)) return false;
    const mark = this.#take(/[^\n\\]/y);
    if (mark === '' || !this.#section(mark, name === 's') || !this.#section(mark, false)) return false;
    if (name === 'y') return true;
    const flags = this.#take(/[gpiImMe\d \t]*/y);
    this.#runs ||= flags.includes('e');
    return this.#take(/w/y) === '' || this.#file();
  }

  #file(): boolean {
    const name = this.#take(/[^\n]*/y).trim();
    if (name !== '') this.#writes.push(name);
    return true;
  }
}
