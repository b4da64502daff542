/**
 * An answer as it arrives, in pieces of any size: blocks that are finished, and how the unfinished one looks so far. What it
 * takes in is text of a model; what it gives out holds no control but colours and links of ours.
 *
 * Invariants
 * 1. The blocks are the same however the text was cut into pieces, up to a bound on the length of a paragraph.
 * 2. A piece costs time in proportion to itself and to the unfinished block, which is bounded.
 */
import { safeText } from '../../../views/text/format.ts';
import { BlockScanner, LONGEST_PARAGRAPH, LONGEST_UNDERLINED } from './block-scanner.ts';
import { type Block, textBlock } from './blocks.ts';
import { inlineText } from './inline-marks.ts';
import type { Paragraph } from './leaf.ts';
import type { Look } from './look.ts';
import { brokenRows, type Row } from './wrapped-rows.ts';

export class AnswerStream {
  readonly #look: Look;
  #scanner: BlockScanner;
  /** What was received of the last line. */
  #partial = '';
  /** That line's beginning is in the open paragraph already. */
  #isMidLine = false;
  #seen: { readonly columns: number; readonly rows: readonly Row[] } | null = null;

  constructor(look: Look) {
    this.#look = look;
    this.#scanner = new BlockScanner(look);
  }

  /** The blocks that are finished with it. */
  push(text: string): Block[] {
    this.#seen = null;
    const [first = '', ...others] = text.split('\n');
    this.#partial += first;
    this.#boundLine();
    for (const line of others) {
      this.#endLine();
      this.#partial = line;
      this.#boundLine();
    }
    return this.#scanner.take();
  }

  end(): Block[] {
    if (this.#partial !== '' || this.#isMidLine) this.#endLine();
    this.#scanner.close();
    this.#seen = null;
    const blocks = this.#scanner.take();
    this.#scanner = new BlockScanner(this.#look);
    return blocks;
  }

  /** How the unfinished block looks. */
  rows(columns: number): readonly Row[] {
    if (this.#seen?.columns === columns) return this.#seen.rows;
    const ahead = this.#ahead();
    ahead.close();
    const rows = ahead
      .take()
      .flatMap((block) => block.rows(columns))
      .flatMap((row) => brokenRows(row, columns));
    this.#seen = { columns, rows };
    return rows;
  }

  /** Finishes as much of the block as does not fit into the room: whatever may still change stays. */
  release(columns: number, room: number): Block[] {
    const excess = this.rows(columns).length - Math.max(1, room);
    if (excess <= 0) return [];
    const { leaf } = this.#scanner;
    if (leaf?.kind === 'fence') {
      if (leaf.lines.length > 0) this.#scanner.cutCode(leaf, Math.min(leaf.lines.length, excess));
    } else this.#releaseText(columns, excess);
    this.#seen = null;
    return this.#scanner.take();
  }

  #releaseText(columns: number, excess: number): void {
    const ahead = this.#ahead();
    const { leaf } = ahead;
    // If the last line ended a block, more of it may take that back.
    if (leaf?.kind !== 'paragraph' || ahead.take().length > 0) return;
    const at = this.#cutOf(leaf, columns, excess);
    const complete = this.#scanner.leaf;
    if (at === null) return;
    if (complete?.kind === 'paragraph' && at <= complete.text.length + 1 && !this.#isMidLine)
      this.#scanner.cutParagraph(complete, at);
    // Before it has a letter, a line may still become something else.
    else if (this.#isMidLine || /\p{L}/u.test(this.#partial)) {
      this.#scanner = ahead;
      this.#isMidLine ||= this.#partial !== '';
      this.#partial = '';
      ahead.cutParagraph(leaf, at);
    }
  }

  /** Where a row begins that is not too far down, before everything that text to come could change. */
  #cutOf({ text, isCut, place }: Paragraph, columns: number, excess: number): number | null {
    if (!isCut && text.length <= LONGEST_UNDERLINED && !text.includes('\n')) return null;
    const { look } = this.#scanner;
    const most = Math.min(tableStart(text), inlineText(text, look).openFrom, tagStart(text));
    const rows = textBlock(text, 0, place, look)
      .rows(columns)
      .slice(place.gap === null ? 0 : 1);
    const starts = rows.slice(1).flatMap(({ at = 0 }, index) => {
      // A mark in its first word could make that narrower, and fit into the row before.
      const word = text.slice(at).search(/\s/);
      const end = word === -1 ? text.length : at + word;
      // A break in the text ends the row before it, and is no row of its own.
      const isBreak = /^<br/i.test(text.slice(at, at + 3));
      return at > 0 && end <= most && !isBreak ? [{ at, index: index + 1 }] : [];
    });
    const chosen = starts.find(({ index }) => index >= excess) ?? starts.at(-1);
    return chosen?.at ?? null;
  }

  /** The scanner as it would be if the last line ended here. */
  #ahead(): BlockScanner {
    const copy = this.#scanner.copy();
    this.#feed(copy);
    return copy;
  }

  #feed(scanner: BlockScanner): void {
    const text = safeText(this.#partial);
    if (this.#isMidLine && scanner.leaf?.kind === 'paragraph') scanner.leaf.text += text;
    else if (this.#partial !== '') scanner.line(text);
  }

  #endLine(): void {
    const isEmpty = this.#partial === '' && !this.#isMidLine;
    if (isEmpty) this.#scanner.line('');
    else this.#feed(this.#scanner);
    this.#partial = '';
    this.#isMidLine = false;
  }

  /** A line without an end is taken in parts. */
  #boundLine(): void {
    while (this.#partial.length > LONGEST_PARAGRAPH) {
      const blank = this.#partial.lastIndexOf(' ', LONGEST_PARAGRAPH);
      const cut = blank > LONGEST_PARAGRAPH / 2 ? blank + 1 : LONGEST_PARAGRAPH;
      const rest = this.#partial.slice(cut);
      this.#partial = this.#partial.slice(0, cut);
      this.#feed(this.#scanner);
      const { leaf } = this.#scanner;
      this.#isMidLine = leaf?.kind === 'paragraph';
      if (leaf?.kind === 'paragraph') this.#scanner.cutParagraph(leaf, leaf.text.length);
      this.#partial = rest;
    }
  }
}

/** Where the last lines begin that could be the head of a table. */
function tableStart(text: string): number {
  const last = text.lastIndexOf('\n') + 1;
  const before = last === 0 ? 0 : text.lastIndexOf('\n', last - 2) + 1;
  if (text.slice(before, last).includes('|')) return before;
  return text.includes('|', last) ? last : text.length;
}

/** Where an entity or a tag begins that is not finished: it may become narrower, and fit into the row before. */
function tagStart(text: string): number {
  const at = text.search(/(?:&#?\w*|<[^<>]*)$/);
  return at === -1 ? text.length : at;
}
