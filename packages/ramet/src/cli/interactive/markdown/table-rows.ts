/** A table of an answer: columns as wide as they need, narrower with wrapped cells, or a list when even that is too wide. Pure. */
import { displayWidth } from '../../../views/text/format.ts';
import { inlineText } from './inline-marks.ts';
import { type Look, paint, painted } from './look.ts';
import { type Row, type Span, wrapSpans } from './wrapped-rows.ts';

export type CellAlign = 'left' | 'right' | 'center';

export interface TableParts {
  /** Null for the later part of a long table. */
  readonly header: readonly string[] | null;
  readonly align: readonly CellAlign[];
  readonly rows: readonly (readonly string[])[];
}

const NARROWEST = 4;
const BETWEEN = 3;

/** The cells of a row of source; a bar after a backslash is text. */
export function tableCells(line: string): string[] {
  const inner = line.trim().replace(/^\|/, '');
  const cells = inner.split(/(?<!\\)\|/);
  if (cells.length > 1 && cells.at(-1)?.trim() === '') cells.pop();
  return cells.map((cell) => cell.trim().replaceAll('\\|', '|'));
}

const LONGEST_DELIMITERS = 2_000;

/** The alignments that a row of dashes asks for; null when the line is none. */
export function tableAligns(line: string): CellAlign[] | null {
  if (line.length > LONGEST_DELIMITERS || !/^[\s|:-]+$/.test(line) || !line.includes('-')) return null;
  const cells = tableCells(line);
  if (!cells.every((cell) => /^:?-+:?$/.test(cell))) return null;
  return cells.map((cell) => {
    if (!cell.endsWith(':')) return 'left';
    return cell.startsWith(':') ? 'center' : 'right';
  });
}

export function tableRows({ header, align, rows }: TableParts, columns: number, look: Look): Row[] {
  const count = align.length;
  const cells = rows.map((row) => align.map((_, index) => cellSpans(row[index] ?? '', look)));
  const head = header?.map((cell) => [...inlineText(cell, look, ['bold']).spans]);
  const all = head === undefined ? cells : [head, ...cells];
  const room = columns - BETWEEN * (count - 1);
  if (room < NARROWEST * count) return listed(cells, head ?? [], columns);
  const widths = shared(
    align.map((_, index) => Math.max(1, ...all.map((row) => spansWidth(row[index] ?? [])))),
    room,
  );
  const draw = (row: readonly Span[][]): Row[] => tableLine(row, widths, align, look);
  const line = widths.map((width) => '─'.repeat(width)).join('─┼─');
  const rule: Row = { text: paint(line, ['dim'], look), width: displayWidth(line) };
  return [...(head === undefined ? [] : [...draw(head), rule]), ...cells.flatMap(draw)];
}

function cellSpans(cell: string, look: Look): Span[] {
  return [...inlineText(cell, look).spans];
}

function spansWidth(spans: readonly Span[]): number {
  return spans.reduce((sum, { text }) => sum + displayWidth(text), 0);
}

/** Columns that need less than their share leave the rest to the others. */
function shared(wanted: readonly number[], room: number): number[] {
  const widths = wanted.map(() => 0);
  let open = wanted.map((_, index) => index);
  let left = room;
  while (open.length > 0) {
    const share = Math.floor(left / open.length);
    const small = open.filter((index) => (wanted[index] ?? 0) <= share);
    for (const index of small.length > 0 ? small : open) {
      widths[index] = Math.max(1, Math.min(wanted[index] ?? 0, share));
      left -= widths[index] ?? 0;
    }
    open = small.length > 0 ? open.filter((index) => !small.includes(index)) : [];
  }
  return widths;
}

function tableLine(
  row: readonly Span[][],
  widths: readonly number[],
  align: readonly CellAlign[],
  look: Look,
): Row[] {
  const cells = row.map((spans, index) => wrapSpans(spans, widths[index] ?? 1));
  const height = Math.max(...cells.map(({ length }) => length));
  const bar = ` ${paint('│', ['dim'], look)} `;
  return Array.from({ length: height }, (_, line) => {
    const parts = cells.map((rows, index) =>
      aligned(rows[line] ?? { text: '', width: 0 }, widths[index] ?? 1, align[index] ?? 'left'),
    );
    const width = widths.reduce((sum, each) => sum + each, BETWEEN * (widths.length - 1));
    return { text: parts.join(bar).trimEnd(), width };
  });
}

function aligned({ text, width }: Row, columns: number, align: CellAlign): string {
  const free = Math.max(0, columns - width);
  const before = align === 'right' ? free : align === 'center' ? Math.floor(free / 2) : 0;
  return `${' '.repeat(before)}${text}${' '.repeat(free - before)}`;
}

/** Row after row, each cell below its heading. */
function listed(rows: readonly Span[][][], head: readonly Span[][], columns: number): Row[] {
  const indent = painted('  ', [], { colours: false, links: false });
  return rows.flatMap((row, number) => [
    ...(number === 0 ? [] : [{ text: '', width: 0 }]),
    ...row.flatMap((cell, index) => [
      ...(head[index] === undefined ? [] : wrapSpans(head[index], columns)),
      ...wrapSpans(cell, columns, { first: indent, rest: indent }),
    ]),
  ]);
}
