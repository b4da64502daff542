/**
 * Text with colours, broken into rows between words, by the columns that its characters take. Pure.
 *
 * Invariants
 * 1. No row is wider than asked for. A word is broken only when it alone is wider than a row.
 * 2. Every row opens and closes its own colours, so any part of the rows can be drawn alone.
 * 3. A row begins where the row before it ended, whatever follows: text that grows changes only its last row.
 */
import { displayWidth, graphemesOf, graphemeWidth, isPlain } from '../../../views/text/format.ts';

/** A run of text in one look. */
export interface Span {
  readonly text: string;
  /** What turns its look on and off on a terminal. */
  readonly open: string;
  readonly close: string;
  /** Its place in the source, for text that is shown as it was written and could be cut anywhere. */
  readonly at?: number;
}

export interface Row {
  readonly text: string;
  readonly width: number;
  /** Where the row begins in the source, if the source can be cut there. */
  readonly at?: number;
  /** It may be wider than the screen: the terminal wraps it, so that it is copied as one line. */
  readonly isWhole?: true;
}

/** What stands before the first row, and before those that follow. */
export interface RowLead {
  readonly first: Span;
  readonly rest: Span;
}

const NO_LEAD: RowLead = { first: plainSpan(''), rest: plainSpan('') };
const TAB = 8;

export function plainSpan(text: string): Span {
  return { text, open: '', close: '' };
}

export function wrapSpans(spans: readonly Span[], columns: number, lead: RowLead = NO_LEAD): Row[] {
  const wrapper = new Wrapper(columns, lead);
  for (const span of spans) wrapper.take(span);
  return wrapper.end();
}

const PARTS = /\n|[ \t]+|[^ \t\n]+/g;
/** Scripts without blanks between words; a row may end after each character. */
const BREAKABLE = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uff60]/u;
/** Marks that belong to the character before them. */
const TRAILING = /^[\u3001\u3002\u3005\u300d\u300f\u3011\u30fc\uff01\uff09\uff0c\uff0e\uff1a\uff1b\uff1f]/u;

interface Piece {
  readonly text: string;
  readonly width: number;
  readonly span: Span;
  readonly at: number | undefined;
}

class Wrapper {
  readonly #columns: number;
  readonly #lead: RowLead;
  readonly #rows: Row[] = [];
  #text = '';
  #width = 0;
  #at: number | undefined;
  #look: Span | null = null;
  #isEmpty = true;
  #blank: Piece | null = null;
  #word: Piece[] = [];
  #wordWidth = 0;
  /** The row may end before the next character, unless that is one of the marks. */
  #mayBreak = false;

  constructor(columns: number, lead: RowLead) {
    this.#columns = Math.max(1, columns);
    this.#lead = lead;
    this.#begin(lead.first);
  }

  take(span: Span): void {
    for (const { 0: part, index } of span.text.matchAll(PARTS)) {
      const at = span.at === undefined ? undefined : span.at + index;
      if (part === '\n') this.#breakLine();
      else if (part.startsWith(' ') || part.startsWith('\t')) this.#takeBlank(part, span);
      else if (isPlain(part)) this.#addToWord({ text: part, width: part.length, span, at });
      else this.#takeUnusual(part, span, at);
    }
  }

  end(): Row[] {
    this.#breakLine(true);
    return this.#rows;
  }

  #takeBlank(part: string, span: Span): void {
    this.#placeWord();
    // Those at the end of the span before belong to it.
    let width = this.#blank?.width ?? 0;
    for (const blank of part) width += blank === '\t' ? TAB - ((this.#width + width) % TAB) : 1;
    this.#blank = { text: ' '.repeat(width), width, span, at: undefined };
  }

  #takeUnusual(part: string, span: Span, start: number | undefined): void {
    let at = start;
    for (const grapheme of graphemesOf(part)) {
      const isBreakable = BREAKABLE.test(grapheme);
      if (isBreakable && !TRAILING.test(grapheme)) this.#placeWord();
      this.#addToWord({ text: grapheme, width: graphemeWidth(grapheme), span, at });
      if (at !== undefined) at += grapheme.length;
      this.#mayBreak = isBreakable;
    }
  }

  #addToWord(piece: Piece): void {
    if (this.#mayBreak && !TRAILING.test(piece.text)) this.#placeWord();
    this.#mayBreak = false;
    this.#word.push(piece);
    this.#wordWidth += piece.width;
  }

  #placeWord(): void {
    if (this.#word.length === 0) return;
    const blank = this.#blank;
    const room = this.#columns - this.#width - (blank?.width ?? 0);
    if (this.#wordWidth <= room || (this.#isEmpty && blank === null)) {
      if (blank !== null) this.#put(blank);
    } else if (!this.#isEmpty || (blank?.width ?? 0) >= this.#columns - this.#width) this.#nextRow();
    else if (blank !== null) this.#put(blank);
    this.#blank = null;
    for (const piece of this.#word) this.#putBroken(piece);
    this.#word = [];
    this.#wordWidth = 0;
  }

  #putBroken(piece: Piece): void {
    if (this.#width + piece.width <= this.#columns) {
      this.#put(piece);
      return;
    }
    for (const grapheme of graphemesOf(piece.text)) {
      const width = graphemeWidth(grapheme);
      if (this.#width + width > this.#columns && !this.#isEmpty) this.#nextRow();
      this.#put({ text: grapheme, width, span: piece.span, at: undefined });
    }
  }

  #put({ text, width, span, at }: Piece): void {
    if (this.#isEmpty) this.#at = at;
    if (span !== this.#look) {
      this.#text += `${this.#look?.close ?? ''}${span.open}`;
      this.#look = span;
    }
    this.#text += text;
    this.#width += width;
    this.#isEmpty = false;
  }

  #breakLine(isLast = false): void {
    this.#placeWord();
    this.#blank = null;
    this.#mayBreak = false;
    this.#push();
    if (!isLast) this.#begin(this.#lead.rest);
  }

  #nextRow(): void {
    this.#push();
    this.#begin(this.#lead.rest);
  }

  #push(): void {
    const text = (this.#text + (this.#look?.close ?? '')).trimEnd();
    const width = text === '' ? 0 : this.#width;
    this.#rows.push({ text, width, ...(this.#at !== undefined && { at: this.#at }) });
  }

  /** A lead that would leave no room is cut. */
  #begin(lead: Span): void {
    const width = displayWidth(lead.text);
    const most = Math.floor(this.#columns / 2);
    const shown = width > most ? graphemesOf(lead.text).slice(0, most).join('') : lead.text;
    const fits = displayWidth(shown) <= most ? shown : '';
    this.#text = fits === '' ? '' : `${lead.open}${fits}${lead.close}`;
    this.#width = displayWidth(fits);
    this.#at = undefined;
    this.#look = null;
    this.#isEmpty = true;
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with Escape
const COLOUR = /\u001b\[([0-9;]*)m/g;
const ENDS: Readonly<Record<string, string>> = {
  '1': '22',
  '2': '22',
  '3': '23',
  '4': '24',
  '7': '27',
  '9': '29',
};

/** Text that holds colours, as `TextStyle` writes them. */
export function colouredSpans(text: string): Span[] {
  if (!text.includes('\u001b')) return [plainSpan(text)];
  const spans: Span[] = [];
  /** What is on, by what turns it off. */
  const on = new Map<string, string>();
  const add = (part: string): void => {
    if (part === '') return;
    const open = Array.from(on.values(), (code) => `\u001b[${code}m`).join('');
    const close = Array.from(on.keys(), (code) => `\u001b[${code}m`).join('');
    spans.push({ text: part, open, close });
  };
  let from = 0;
  for (const { 0: whole, 1: code = '', index } of text.matchAll(COLOUR)) {
    add(text.slice(from, index));
    from = index + whole.length;
    const off = ENDS[code] ?? (/^(?:3|9)[0-7]$/.test(code) ? '39' : undefined);
    if (off === undefined) on.delete(code);
    else on.set(off, code);
  }
  add(text.slice(from));
  return spans;
}

/** A line of Ramet's own: what does not fit stands below, as far in as the line begins. */
export function wrapLine(spans: readonly Span[], columns: number): Row[] {
  const indent = /^ */.exec(spans[0]?.text ?? '')?.[0] ?? '';
  const lead = plainSpan(indent);
  const [first, ...others] = spans;
  const body = first === undefined ? [] : [{ ...first, text: first.text.slice(indent.length) }, ...others];
  return wrapSpans(body, columns, { first: lead, rest: lead });
}

/** All of a row that is wider than the screen, in rows that are not; words are broken. */
export function brokenRows(row: Row, columns: number): Row[] {
  if (row.width <= columns) return [row];
  const rows: Row[] = [];
  let text = '';
  let width = 0;
  for (const span of colouredSpans(row.text)) {
    text += span.open;
    for (const grapheme of graphemesOf(span.text)) {
      const cells = graphemeWidth(grapheme);
      if (width + cells > columns && width > 0) {
        rows.push({ text: text + span.close, width });
        text = span.open;
        width = 0;
      }
      text += grapheme;
      width += cells;
    }
    text += span.close;
  }
  return [...rows, { text, width }];
}
