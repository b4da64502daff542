/**
 * The end of the output, as it stands on a terminal: which blocks, and the width that each was written for. A terminal that has
 * changed its width has broken or joined their rows in its own way. It writes nothing.
 *
 * Invariants
 * 1. What is to be written again begins with what stands at the start of a row, or before it: rather some words twice than none.
 *    If the rest of a block can be told from its beginning, which is above the screen, only the rest is written.
 * 2. Of a row that the terminal has broken, all is written again or nothing: it would join what follows with the part above.
 * 3. A block that begins above the screen is in two parts from then on; they are one again when both are written again.
 */

import { displayWidth } from '../../../views/text/format.ts';
import type { Block } from '../markdown/blocks.ts';
import { brokenRows, colouredSpans, type Row } from '../markdown/wrapped-rows.ts';

/** Rows of output that are kept to be drawn again: more than any screen has. */
const KEPT_ROWS = 600;

interface Kept {
  readonly block: Block;
  /** Later output has a higher one. */
  readonly place: number;
  /** When it was written first, or last. */
  readonly height: number;
  /** The width that it was written for last. */
  readonly columns: number;
  /** It is the first or the second part of this. */
  readonly part?: { readonly of: Kept; readonly isFirst: boolean };
}

interface RowsAgain {
  /** This many rows of the terminal hold output, or what others have written before it. */
  readonly rows: number;
  /** This many more below them are there only because the terminal has broken rows. */
  readonly broken: number;
  /** How wide the terminal is. */
  readonly stoodAt: number;
  /** The width to write for. */
  readonly columns: number;
  readonly unsure: UnsureOutput;
}

/**
 * Output that an earlier drawing may have written over, by its places: what is drawn next begins with it. It is not counted among what
 * stands on the terminal: its rows may show what came before it.
 */
export interface UnsureOutput {
  readonly from: number;
  /** The place of what that drawing began with. */
  readonly to: number;
}

export const SURE: UnsureOutput = { from: Number.POSITIVE_INFINITY, to: Number.POSITIVE_INFINITY };

interface OutputAgain {
  /** Rows of the terminal that hold output which is written again. */
  readonly height: number;
  readonly rows: readonly Row[];
  /** In a terminal that has become wider by then, rows that it had broken are joined, and these above are written over too. */
  readonly unsure: UnsureOutput;
}

export class KeptOutput {
  #kept: Kept[] = [];
  #rows = 0;
  #places = 0;

  /** Output that is being written as these rows. Returns how many it takes on the terminal. */
  keep(block: Block, rows: readonly Row[], columns: number): number {
    const height = heightOfAll(rows, columns);
    this.#kept.push({ block, height, columns, place: ++this.#places });
    this.#rows += height;
    let old = 0;
    while (this.#rows - (this.#kept[old]?.height ?? 0) > KEPT_ROWS)
      this.#rows -= this.#kept[old++]?.height ?? 0;
    if (old > 0) this.#kept = this.#kept.slice(old);
    return height;
  }

  /** What is to be written again of the last rows of a terminal, with all that may have been written over. */
  again({ rows, broken, stoodAt, columns, unsure }: RowsAgain): OutputAgain {
    const stands = ({ place }: Kept): boolean => place < unsure.from || place >= unsure.to;
    let [left, at] = [rows, this.#kept.length];
    while (at > 0) {
      const kept = this.#kept[at - 1];
      if (kept === undefined) break;
      if (!stands(kept)) {
        at -= 1;
        continue;
      }
      const height = heightOfAll(standing(kept), stoodAt);
      if (height > left) {
        const below = standing(kept).findIndex((_, row, all) => heightOfAll(all.slice(row), stoodAt) <= left);
        if (below === -1) break;
        left -= heightOfAll(standing(kept).slice(below), stoodAt);
        // The second part is the first that is written again.
        this.#kept.splice(at - 1, 1, ...partsOf(kept, below, this.#kept[at]?.place ?? kept.place + 1));
        break;
      }
      left -= height;
      at -= 1;
    }
    const standingRows = this.#kept.slice(at).filter(stands).flatMap(standing).length;
    const first = this.#kept.findIndex(({ place }) => place >= unsure.from);
    const begin = first === -1 ? at : Math.min(first, at);
    const from = this.#placeAbove(broken + rows - left - standingRows, begin);
    const taken = joined(this.#kept.slice(begin)).map((kept) => ({ ...kept, columns }));
    this.#kept.splice(begin, this.#kept.length, ...taken);
    const to = taken[0]?.place ?? Number.POSITIVE_INFINITY;
    return { height: rows - left, rows: taken.flatMap(standing), unsure: { from, to } };
  }

  /** Nothing of it is on the terminal any more. */
  forget(): void {
    this.#kept = [];
    this.#rows = 0;
  }

  /** This many of its own rows above one of the blocks: infinite for none. */
  #placeAbove(rows: number, at: number): number {
    let [left, place] = [rows, Number.POSITIVE_INFINITY];
    for (const kept of this.#kept.slice(0, at).toReversed()) {
      if (left <= 0) break;
      left -= standing(kept).length;
      place = kept.place;
    }
    return place;
  }
}

function standing({ block, columns }: Kept): readonly Row[] {
  return block.rows(textColumns(columns));
}

/** In two, after this many of its rows; `next` is the place of what follows. */
function partsOf(kept: Kept, after: number, next: number): [Kept, Kept] {
  const rows = standing(kept);
  const [upper, lower] = [rows.slice(0, after), rows.slice(after)];
  const columns = textColumns(kept.columns);
  const rest = (width: number): readonly Row[] =>
    width === columns ? lower : rowsAfter(upper, kept.block.rows(width), rows);
  return [
    { ...kept, height: 0, block: { rows: () => upper }, part: { of: kept, isFirst: true } },
    { ...kept, block: { rows: rest }, place: (kept.place + next) / 2, part: { of: kept, isFirst: false } },
  ];
}

/** Of the rows for another width what follows `upper`; all of them if it cannot be told. */
function rowsAfter(upper: readonly Row[], rows: readonly Row[], before: readonly Row[]): readonly Row[] {
  if (lettersOf(rows) !== lettersOf(before)) return rows;
  let left = lettersOf(upper).length;
  for (const [at, row] of rows.entries()) {
    const { length } = lettersOf([row]);
    if (left < length) return [rowAfter(row, left), ...rows.slice(at + 1)];
    left -= length;
    if (left === 0) return rows.slice(at + 1);
  }
  return [];
}

/** What follows this many letters of a row: it begins where the row begins, and is shorter. */
function rowAfter(row: Row, letters: number): Row {
  if (letters === 0) return row;
  let left = letters;
  const indent = /^\s*/.exec(colouredSpans(row.text)[0]?.text ?? '')?.[0] ?? '';
  let text = indent;
  let width = displayWidth(indent);
  for (const span of colouredSpans(row.text)) {
    const gone = left === 0 ? 0 : endOfLetters(span.text, left);
    left -= lettersIn(span.text.slice(0, gone)).length;
    const rest = width === displayWidth(indent) ? span.text.slice(gone).trimStart() : span.text.slice(gone);
    if (rest === '') continue;
    text += span.open + rest + span.close;
    width += displayWidth(rest);
  }
  const { isWhole } = row;
  return { text, width, ...(isWhole && { isWhole }) };
}

/** Where the first letters of a text end, as many as asked for. */
function endOfLetters(text: string, letters: number): number {
  let at = 0;
  for (let left = letters; left > 0 && at < text.length; at++) if (!/\s/.test(text.charAt(at))) left -= 1;
  return at;
}

function lettersOf(rows: readonly Row[]): string {
  const spans = rows.flatMap(({ text }) => colouredSpans(text));
  return spans.map(({ text }) => lettersIn(text)).join('');
}

function lettersIn(text: string): string {
  return text.replaceAll(/\s/g, '');
}

function joined(kept: readonly Kept[]): Kept[] {
  const whole: Kept[] = [];
  for (const one of kept) {
    let last = one;
    // What has become whole may itself be a part.
    for (let before = whole.at(-1); areOne(before, last); before = whole.at(-1)) {
      whole.pop();
      last = last.part?.of ?? last;
    }
    whole.push(last);
  }
  return whole;
}

function areOne(upper: Kept | undefined, lower: Kept): boolean {
  const isPair = upper?.part?.isFirst === true && lower.part?.isFirst === false;
  return isPair && upper.part.of === lower.part.of;
}

/** The last column stays free: a terminal that has written there is between two rows. */
export function textColumns(columns: number): number {
  return Math.max(1, columns - 1);
}

/** Rows that the terminal makes of them. */
export function heightOfAll(rows: readonly Row[], columns: number): number {
  return rows.reduce((sum, row) => sum + heightOf(row, columns), 0);
}

function heightOf(row: Row, columns: number): number {
  return row.width <= columns ? 1 : brokenRows(row, columns).length;
}
