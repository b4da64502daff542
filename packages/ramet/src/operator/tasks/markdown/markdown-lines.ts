/**
 * The lines of a Markdown file, each with its kind. Fences, comments and front matter are told apart first: what is
 * inside them is never a task. Every pattern is anchored and linear, and only the beginning of a very long line is read.
 */

export type LineKind = 'blank' | 'heading' | 'box' | 'item' | 'text' | 'rule' | 'fence' | 'comment' | 'front';

export interface MarkdownLine {
  /** From 1. */
  number: number;
  /** Where the line begins in the text. */
  start: number;
  kind: LineKind;
  /** Columns before the first sign; a tab counts as four. */
  indent: number;
  /** What follows the signs of the list, box or heading. */
  body: string;
  /** Where `body` begins in the line, from 0. */
  bodyAt: number;
  /** Level of a heading. */
  level: number;
  /** What is in the box, and where in the text of the file. */
  mark: string;
  markAt: number;
  /** `- [ ]*`. */
  starred: boolean;
  /** The number of an item of a numbered list. */
  ordinal: string | null;
  /** The fence this line belongs to: the line that opens it. */
  fence: number | null;
}

export interface MarkdownFile {
  lines: MarkdownLine[];
  /** The line of a fence that nothing closes. */
  openFence: number | null;
  /** Lines that were too long to be read whole. */
  cut: number[];
}

export const LONGEST_LINE = 10_000;

const HEADING = /^\s{0,3}(#{1,6})(?:\s+|$)/;
const RULE = /^\s{0,3}(?:-{3,}|\*{3,}|_{3,}|={3,})\s*$/;
const FENCE = /^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(`{3,}|~{3,})/;
const ITEM = /^(\s*)(?:[-*+\u2022]|(\d{1,9})[.)])(?:\s+|(?=\[\s{0,3}[ xX]\s{0,3}\]\s))/;
const HEADING_BOX = /^\[(\s{0,3}.?\s{0,3})\](\s)/u;
/** A blank after the box is often forgotten; what is in brackets before `(` is a link. */
const BOX = /^\[(\s{0,3}.?\s{0,3})\](\*|\\\*)?(?=\s|$|\*|(?<=\[\s{0,3}[ xX]\s{0,3}\])[\p{L}\p{N}])\s*/u;

export function scanMarkdown(text: string): MarkdownFile {
  const scan = new Scan();
  let start = 0;
  for (const raw of text.split('\n')) {
    scan.line(raw.endsWith('\r') ? raw.slice(0, -1) : raw, start);
    start += raw.length + 1;
  }
  return { lines: scan.lines, openFence: scan.fence?.line ?? null, cut: scan.cut };
}

/** With `bullets`, the outermost items of a file without boxes stand for boxes. */
export function asBoxes(lines: readonly MarkdownLine[], bullets: boolean): readonly MarkdownLine[] {
  if (!bullets || lines.some(({ kind }) => kind === 'box')) return lines;
  return lines.map((line) => (line.kind === 'item' ? { ...line, kind: 'box', mark: ' ' } : line));
}

class Scan {
  readonly lines: MarkdownLine[] = [];
  readonly cut: number[] = [];
  fence: { line: number; sign: string } | null = null;
  #comment = false;
  #front = false;

  line(whole: string, start: number): void {
    const number = this.lines.length + 1;
    const raw = whole.slice(0, LONGEST_LINE);
    const kind = this.#around(raw, number);
    if (kind === null) this.lines.push({ ...plainLine(raw, number, start), start });
    else {
      // A graph may be one long line of JSON.
      const body = kind === 'fence' ? whole : raw;
      this.lines.push({ ...bare(number, kind), indent: indentOf(raw), body, fence: this.#fenceLine(kind) });
    }
    if (kind === null && whole.length > LONGEST_LINE) this.cut.push(number);
    if (kind === 'fence' && this.#closes(raw, number)) this.fence = null;
  }

  #fenceLine(kind: LineKind): number | null {
    return kind === 'fence' ? (this.fence?.line ?? null) : null;
  }

  /** Null for a line that is read by itself. */
  #around(raw: string, number: number): LineKind | null {
    if (this.fence !== null) return 'fence';
    if (number === 1 && raw.trimEnd() === '---') this.#front = true;
    if (this.#front) {
      if (number > 1 && /^(?:---|\.\.\.)\s*$/.test(raw)) this.#front = false;
      return 'front';
    }
    if (this.#comment || raw.trimStart().startsWith('<!--')) {
      this.#comment = !raw.includes('-->');
      return 'comment';
    }
    const sign = FENCE.exec(raw)?.[1];
    if (sign === undefined) return null;
    this.fence = { line: number, sign };
    return 'fence';
  }

  #closes(raw: string, number: number): boolean {
    if (this.fence === null || this.fence.line === number) return false;
    const text = raw.trim();
    const [sign = ''] = this.fence.sign;
    return text.length >= this.fence.sign.length && text.replaceAll(sign, '') === '';
  }
}

function plainLine(raw: string, number: number, start: number): MarkdownLine {
  if (raw.trim() === '') return bare(number, 'blank');
  const heading = HEADING.exec(raw);
  if (heading !== null) return headingLine(raw, number, start, heading);
  const item = ITEM.exec(raw);
  if (item === null) {
    const indent = indentOf(raw);
    const bodyAt = raw.length - raw.trimStart().length;
    const kind = RULE.test(raw) ? 'rule' : 'text';
    return { ...bare(number, kind), indent, body: raw.trim(), bodyAt };
  }
  const bodyAt = item[0].length;
  const line = { ...bare(number, 'item'), indent: indentOf(raw), ordinal: item[2] ?? null };
  const box = BOX.exec(raw.slice(bodyAt));
  if (box === null) {
    // `---` with blanks and a dash at the end of a line are no items.
    return RULE.test(raw)
      ? { ...bare(number, 'rule'), body: raw }
      : { ...line, body: raw.slice(bodyAt).trim(), bodyAt };
  }
  const at = bodyAt + box[0].length;
  return {
    ...{ ...line, kind: 'box', body: raw.slice(at).trim(), bodyAt: at },
    ...{ mark: box[1] ?? '', markAt: start + bodyAt + 1, starred: box[2] !== undefined },
  };
}

function headingLine(
  raw: string,
  number: number,
  start: number,
  [signs, hashes = '']: RegExpExecArray,
): MarkdownLine {
  const box = HEADING_BOX.exec(raw.slice(signs.length));
  const bodyAt = signs.length + (box?.[0].length ?? 0);
  return {
    ...bare(number, 'heading'),
    level: hashes.length,
    body: raw
      .slice(bodyAt)
      .replace(/\s#+\s*$/, '')
      .trim(),
    bodyAt,
    ...(box !== null && { mark: box[1] ?? '', markAt: start + signs.length + 1 }),
  };
}

function bare(number: number, kind: LineKind): MarkdownLine {
  return {
    ...{ number, start: 0, kind, indent: 0, body: '', bodyAt: 0, level: 0, mark: '', markAt: -1 },
    ...{ starred: false, ordinal: null, fence: null },
  };
}

function indentOf(raw: string): number {
  let columns = 0;
  for (const sign of raw) {
    if (sign === '\t') columns += 4 - (columns % 4);
    else if (sign === ' ') columns += 1;
    else break;
  }
  return columns;
}
