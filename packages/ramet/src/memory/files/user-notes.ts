/**
 * The lines that may pass for the user's own words, by their heading: as a person sees the rendered Markdown, as a model reads the
 * source line by line, and in the widest way, which no other reader exceeds. There a section begins wherever any reader sees its heading,
 * and ends only at a heading that nobody can take for anything else: plain words at the beginning of a line, outside of lists,
 * quotations, code and HTML.
 */
import { denseParagraphs } from './dense-markdown.ts';
import { htmlLevel, type MarkdownBlock, markdownBlocks, sourceLines } from './markdown-blocks.ts';
import { isReserved } from './reserved-heading.ts';

export interface UserNotes {
  /** How many blocks read as their heading. */
  readonly headings: number;
  /** These, and what stands below them, without blank lines. */
  readonly lines: readonly string[];
}

interface PlacedNotes extends UserNotes {
  /** For each line the last heading of any kind in the section. */
  readonly under: readonly string[];
  /** HTML or code goes on where the text ends: no heading would end the section there. */
  readonly isOpen: boolean;
}

export interface ReadNotes {
  readonly rendered: UserNotes;
  readonly source: UserNotes;
  readonly widest: PlacedNotes;
  /** Readers do not agree which lines these are. */
  readonly isUnclear: boolean;
  /** A part was not parsed: what a reader sees there is not known. */
  readonly isUnread: boolean;
  /** What a reader of the Markdown does not see, or sees elsewhere. */
  readonly html: readonly string[];
}

interface ReadText {
  readonly lines: readonly string[];
  readonly blocks: readonly Pick<MarkdownBlock, 'start' | 'level' | 'text'>[];
}

const LOWEST = 6;
const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;

export function readNotes(text: string): ReadNotes {
  const blocks = markdownBlocks(text);
  const seen = { lines: sourceLines(text), blocks };
  const lines = text.split(LINE_END);
  // A model reads the source, and so does code that looks for headings line by line: fences and comments hide nothing there.
  const written = {
    lines,
    blocks: lines.map((line, start) => ({ start, level: levelOf(line), text: seenOf(line) })),
  };
  const [rendered, source] = [narrowNotes(seen), narrowNotes(written)];
  const widest = widestNotes(text, blocks, written);
  const isAgreed = [rendered, source].every((notes) => notes.lines.length === widest.lines.length);
  return {
    rendered,
    source,
    widest,
    isUnclear: widest.isOpen || !isAgreed,
    isUnread: denseParagraphs(seen.lines).length > 0,
    html: blocks.flatMap(({ html }) => html),
  };
}

function levelOf(line: string): number {
  return /^[\s>*+-]*(#{1,6})(?!#)/.exec(line)?.[1]?.length ?? htmlLevel(line);
}

function seenOf(line: string): string {
  return line.replace(/<\/?[a-z][^<>]*>/gi, '');
}

function narrowNotes({ lines, blocks }: ReadText): UserNotes {
  const own: string[] = [];
  let [headings, open] = [0, 0];
  for (const [index, block] of blocks.entries()) {
    const isHeading = isReserved(block);
    if (isHeading) headings += 1;
    if (block.level > 0 && block.level <= open) open = 0;
    if (isHeading && open === 0) open = block.level || LOWEST;
    const end = open === 0 ? block.start : (blocks[index + 1]?.start ?? lines.length);
    for (const line of lines.slice(block.start, end)) if (line.trim() !== '') own.push(line.trim());
  }
  return { headings, lines: own };
}

/** Of a heading in plain words, which no dialect of Markdown hides a part of. */
const PLAIN =
  /^#{1,6}[ \t]+[\p{L}\p{N}\p{M}\p{Pd}\p{Extended_Pictographic} \t.,:;'\u2019"\u201c\u201d()/_+#@!?&*`]+$/u;
const FENCE = /^[\s>*+\-.)\d]*(?:```|~~~)/;
/** A sign of a type in code, which hides nothing: `<string>`. */
const BARE_TAG = /^<\/?\w+>$/;

/** What a row has: a line that begins and ends for all readers. */
interface Row {
  /** Of a heading of the user; 0 without one. */
  opens: number;
  /** Of a heading that nobody can miss; 0 without one. */
  ends: number;
  isHeading: boolean;
  hasHtml: boolean;
}

function widestNotes(text: string, blocks: readonly MarkdownBlock[], written: ReadText): PlacedNotes {
  const lines = text.split('\n').map((line) => line.trim());
  const rows = rowsOf(text, lines, blocks, written);
  const own: string[] = [];
  const under: string[] = [];
  let [headings, open, heading] = [0, 0, ''];
  let [isInCode, isInHtml] = [false, false];
  for (const [index, line] of lines.entries()) {
    const row = rows.get(index);
    if (row !== undefined && row.ends > 0 && row.ends <= open && !isInCode && !isInHtml) open = 0;
    if (row !== undefined && row.opens > 0) {
      headings += 1;
      if (open === 0) [isInCode, isInHtml, heading] = [false, false, ''];
      open = open === 0 ? row.opens : Math.min(open, row.opens);
    }
    if (open === 0) continue;
    if (row?.isHeading) heading = line;
    if (row?.hasHtml) isInHtml = true;
    if (FENCE.test(line)) isInCode = !isInCode;
    if (line === '') continue;
    own.push(line);
    under.push(heading);
  }
  return { headings, lines: own, under, isOpen: open > 0 && (isInCode || isInHtml) };
}

function rowsOf(
  text: string,
  lines: readonly string[],
  blocks: readonly MarkdownBlock[],
  written: ReadText,
): ReadonlyMap<number, Row> {
  const rows = new Map<number, Row>();
  const rowAt = (index: number): Row => {
    const row = rows.get(index) ?? { opens: 0, ends: 0, isHeading: false, hasHtml: false };
    rows.set(index, row);
    return row;
  };
  const add = (index: number, block: Pick<MarkdownBlock, 'level' | 'text'>): void => {
    const level = block.level || LOWEST;
    if (block.level > 0) rowAt(index).isHeading = true;
    if (isReserved(block)) rowAt(index).opens = Math.min(level, rowAt(index).opens || LOWEST);
  };
  const [seenIn, writtenIn] = [rowNumbers(text, /\r\n|\n|\r/g), rowNumbers(text, new RegExp(LINE_END, 'g'))];
  for (const block of blocks) {
    const index = seenIn[block.start] ?? 0;
    add(index, block);
    if (block.html.some((html) => !BARE_TAG.test(html))) rowAt(index).hasHtml = true;
    if (block.isAtTop && block.level > 0 && isPlain(lines[index] ?? '', block))
      rowAt(index).ends = block.level;
  }
  for (const block of written.blocks)
    if (block.level > 0 || isReserved(block)) add(writtenIn[block.start] ?? 0, block);
  return rows;
}

function isPlain(line: string, { text, column }: MarkdownBlock): boolean {
  const visible = text.replace(/\p{Default_Ignorable_Code_Point}+/gu, '');
  return column === 0 && PLAIN.test(line) && /[\p{L}\p{N}]/u.test(visible);
}

/** In which row each line is, where other signs end lines too. */
function rowNumbers(text: string, ends: RegExp): number[] {
  const numbers = [0];
  let row = 0;
  for (const [end] of text.matchAll(ends)) {
    if (end.endsWith('\n')) row += 1;
    numbers.push(row);
  }
  return numbers;
}
