/**
 * Reads an answer line by line and gives out its blocks: headings, paragraphs, lists, quotes, tables, code. Each line is
 * read once; what is kept is the block that is not finished. CommonMark's rules, with these differences: a line break
 * stays a line break, only a short line becomes a heading by being underlined, and the definition of a link is shown and
 * counts for what follows it: blocks before it have been given out.
 */
import {
  type Block,
  type BlockPlace,
  codeBlock,
  definitionBlock,
  ruleBlock,
  tableBlock,
  textBlock,
} from './blocks.ts';
import { colouredLine } from './code-colours.ts';
import {
  type Container,
  containersAt,
  FENCE,
  HEADING,
  indentOf,
  isBlockStart,
  leadOf,
  RULE,
  untabbed,
  within,
} from './containers.ts';
import type { Fence, Leaf, Paragraph, Table } from './leaf.ts';
import { type Definition, definitionOf, labelKey } from './link-address.ts';
import type { Look } from './look.ts';
import { tableAligns, tableCells } from './table-rows.ts';

/** What is longer is given out in parts, whatever the screen: memory and the time for a frame stay bounded. */
export const LONGEST_PARAGRAPH = 8_000;
const MOST_CODE_LINES = 500;
const MOST_CODE = 40_000;
const MOST_TABLE_ROWS = 200;
/** Further ones are shown, and nothing refers to them. */
const MOST_DEFINITIONS = 1_000;
/** A longer line is no heading, however it is underlined: by then it may be on the screen for good. */
export const LONGEST_UNDERLINED = 100;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;

export class BlockScanner {
  #look: Look;
  #containers: Container[] = [];
  #blocks: Block[] = [];
  #isAfterBlank = false;
  #isAfterBlock = false;
  /** The last block does not touch the next one. */
  #isApart = false;
  leaf: Leaf | null = null;

  constructor(look: Look) {
    this.#look = look;
  }

  /** With the definitions so far. */
  get look(): Look {
    return this.#look;
  }

  /** To see what a line that is not complete would make of it. */
  copy(): BlockScanner {
    const copy = new BlockScanner(this.#look);
    copy.#containers = this.#containers.map((container) => ({ ...container }));
    copy.#isAfterBlank = this.#isAfterBlank;
    copy.#isAfterBlock = this.#isAfterBlock;
    copy.#isApart = this.#isApart;
    const { leaf } = this;
    if (leaf?.kind === 'fence') copy.leaf = { ...leaf, lines: [...leaf.lines] };
    else if (leaf?.kind === 'table') copy.leaf = { ...leaf, rows: [...leaf.rows] };
    else copy.leaf = leaf && { ...leaf };
    return copy;
  }

  /** The blocks that are finished, each once. */
  take(): Block[] {
    const blocks = this.#blocks;
    this.#blocks = [];
    return blocks;
  }

  line(text: string): void {
    const { leaf } = this;
    const { rest, matched } = within(this.#containers, leaf?.kind === 'fence' ? text : untabbed(text));
    if (leaf?.kind === 'fence' && matched === this.#containers.length) this.#codeLine(leaf, rest);
    else {
      if (leaf?.kind === 'fence') this.#closeLeaf();
      if (rest.trim() === '') this.#blankLine(matched);
      else this.#textLine(rest, matched);
    }
  }

  /** Nothing follows. */
  close(): void {
    this.#closeLeaf();
    this.#leave(0);
  }

  /** Gives out the beginning of the open paragraph; the rest continues below it. */
  cutParagraph(paragraph: Paragraph, at: number): void {
    const { place, text } = paragraph;
    this.#blocks.push(textBlock(text.slice(0, at).trimEnd(), 0, place, this.#look));
    paragraph.text = text.slice(at);
    paragraph.place = continued(place);
    paragraph.isCut = true;
  }

  /** Gives out the first lines of the open code block. */
  cutCode(fence: Fence, count: number): void {
    const { opening, place } = fence;
    const lines = fence.lines.splice(0, count);
    fence.size = fence.lines.length === 0 ? 0 : fence.size;
    this.#blocks.push(codeBlock({ lines, opening, isEnd: false }, place, this.#look));
    fence.opening = null;
    fence.place = continued(place);
  }

  #blankLine(matched: number): void {
    this.#closeLeaf();
    this.#leave(matched);
    this.#isAfterBlank = true;
  }

  #textLine(line: string, matched: number): void {
    const isText = this.leaf?.kind === 'paragraph';
    const around = this.#containers.slice(0, matched);
    const interrupts = isText && matched === this.#containers.length;
    const { opened, rest } = containersAt(line, around, interrupts);
    // A line of a paragraph may leave out the marks of what surrounds it.
    const isLazy = opened.length === 0 && isText && !isBlockStart(rest);
    if (opened.length > 0 || (matched < this.#containers.length && !isLazy)) {
      this.#closeLeaf();
      this.#leave(matched);
      this.#containers.push(...opened);
    }
    if (rest.trim() !== '') this.#leafLine(rest);
  }

  #leafLine(rest: string): void {
    const { leaf } = this;
    const fence = FENCE.exec(rest);
    const heading = HEADING.exec(rest);
    if (fence !== null && !(rest.trimStart().startsWith('`') && fence[3]?.includes('`')))
      this.#openFence(fence);
    else if (heading !== null) this.#heading(rest.slice(heading[0].length), heading[1]?.length ?? 1);
    else if (leaf?.kind === 'paragraph' && isUnderlined(leaf, rest)) {
      this.leaf = null;
      this.#blocks.push(textBlock(leaf.text, rest.includes('=') ? 1 : 2, leaf.place, this.#look));
    } else if (RULE.test(rest)) {
      this.#closeLeaf();
      this.#blocks.push(ruleBlock(this.#place(true), this.#look));
    } else if (leaf?.kind === 'paragraph') this.#paragraphLine(leaf, rest);
    else if (leaf?.kind === 'table' && rest.includes('|')) this.#tableLine(leaf, rest);
    else this.#beginText(rest);
  }

  #beginText(rest: string): void {
    this.#closeLeaf();
    const place = this.#place(false);
    const definition = definitionOf(rest);
    if (definition !== null) this.#define(definition, place);
    else if (indentOf(rest) < 4)
      this.leaf = { kind: 'paragraph', text: rest.trimStart(), place, isCut: false };
    else this.#blocks.push(codeBlock({ lines: [rest], opening: null, isEnd: false }, place, this.#look));
  }

  #define(definition: Definition, place: BlockPlace): void {
    this.#blocks.push(definitionBlock(definition, place, this.#look));
    const { references = new Map<string, string>() } = this.#look;
    const key = labelKey(definition.label);
    if (references.has(key) || references.size >= MOST_DEFINITIONS) return;
    this.#look = { ...this.#look, references: new Map([...references, [key, definition.address]]) };
  }

  #paragraphLine(paragraph: Paragraph, rest: string): void {
    const lastLine = paragraph.text.slice(paragraph.text.lastIndexOf('\n') + 1);
    const align = lastLine.includes('|') ? tableAligns(rest) : null;
    const header = align === null ? [] : tableCells(lastLine);
    if (align !== null && header.length === align.length) {
      const before = paragraph.text.slice(0, -lastLine.length - 1);
      if (before !== '') this.#blocks.push(textBlock(before, 0, paragraph.place, this.#look));
      const place = before === '' ? paragraph.place : apart(paragraph.place);
      this.leaf = { kind: 'table', header, align, rows: [], place };
      return;
    }
    // Nothing is left of a paragraph that was given out to its last line break.
    paragraph.text += `${paragraph.text === '' ? '' : '\n'}${rest.trimStart()}`;
    if (paragraph.text.length > LONGEST_PARAGRAPH)
      this.cutParagraph(paragraph, paragraph.text.lastIndexOf('\n') + 1);
  }

  #tableLine(table: Table, rest: string): void {
    table.rows.push(tableCells(rest));
    if (table.rows.length < MOST_TABLE_ROWS) return;
    this.#blocks.push(tableBlock(table, table.place, this.#look));
    this.leaf = { ...table, header: null, rows: [], place: continued(table.place) };
  }

  #heading(rest: string, level: number): void {
    this.#closeLeaf();
    const text = rest.trim().replace(/(?:^|[ \t])#+$/, '');
    this.#blocks.push(textBlock(text.trimEnd(), level, this.#place(true), this.#look));
  }

  #openFence([, indent = '', mark = '', info = '']: RegExpExecArray): void {
    this.#closeLeaf();
    const opening = info.trim();
    const language = /^[^\s{,:]*/.exec(opening)?.[0].toLowerCase() ?? '';
    const place = this.#place(true);
    this.leaf = {
      kind: 'fence',
      mark,
      indent: indent.length,
      language,
      place,
      opening,
      lines: [],
      size: 0,
      open: null,
    };
  }

  #codeLine(fence: Fence, rest: string): void {
    const [, , end = '', info = ''] = FENCE.exec(rest) ?? [];
    if (end.startsWith(fence.mark) && info.trim() === '') {
      this.#closeLeaf();
      return;
    }
    const text = rest.slice(Math.min(fence.indent, indentOf(rest)));
    const coloured = colouredLine(text, fence.language, fence.open, this.#look);
    fence.lines.push(coloured.text);
    fence.open = coloured.open;
    fence.size += text.length;
    if (fence.lines.length >= MOST_CODE_LINES || fence.size > MOST_CODE)
      this.cutCode(fence, fence.lines.length);
  }

  #closeLeaf(): void {
    const { leaf } = this;
    this.leaf = null;
    if (leaf === null) return;
    if (leaf.kind === 'paragraph') {
      if (leaf.text !== '') this.#blocks.push(textBlock(leaf.text, 0, leaf.place, this.#look));
      return;
    }
    this.#isApart = true;
    if (leaf.kind === 'fence') this.#blocks.push(codeBlock({ ...leaf, isEnd: true }, leaf.place, this.#look));
    else if (leaf.header !== null || leaf.rows.length > 0)
      this.#blocks.push(tableBlock(leaf, leaf.place, this.#look));
  }

  /** Ends quotes and items from this depth on. An item with nothing in it shows its marker. */
  #leave(depth: number): void {
    if (this.#containers.length <= depth) return;
    if (this.#containers.some((container) => container.kind === 'item' && !container.isShown))
      this.#blocks.push(textBlock('', 0, this.#place(false), this.#look));
    this.#containers.length = depth;
  }

  /** Where the next block stands. Blocks are apart where the source has a blank line, and around code, tables and headings. */
  #place(wantsGap: boolean): BlockPlace {
    const isApart = this.#isAfterBlock && (this.#isAfterBlank || wantsGap || this.#isApart);
    const around = this.#containers.filter(({ isShown }) => isShown);
    const place = { gap: isApart ? leadOf(around).rest : null, lead: leadOf(this.#containers) };
    for (const container of this.#containers) container.isShown = true;
    this.#isAfterBlank = false;
    this.#isAfterBlock = true;
    this.#isApart = false;
    return place;
  }
}

function isUnderlined({ text, isCut }: Paragraph, rest: string): boolean {
  return UNDERLINE.test(rest) && text.length <= LONGEST_UNDERLINED && !text.includes('\n') && !isCut;
}

/** The place of what follows in the same block. */
function continued({ lead }: BlockPlace): BlockPlace {
  return { lead: { first: lead.rest, rest: lead.rest }, gap: null };
}

function apart({ lead }: BlockPlace): BlockPlace {
  return { lead: { first: lead.rest, rest: lead.rest }, gap: lead.rest };
}
