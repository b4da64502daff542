/** Tables and lines on a screen that may be too narrow for them: no word is broken that fits on a row, nothing is cut. Pure. */
import { displayWidth, table, wrapText } from './format.ts';

type Rows = readonly (readonly string[])[];

/** A last column that is narrower than this is hard to read. */
const LEAST_LAST = 20;
const INDENT = '  ';

/**
 * As `table` where that fits. Else the last cells continue below themselves; where that leaves too little room, the cells
 * of a row stand one after the other, on as many rows as they need. `columns` is null without a screen.
 */
export function fittedTable(rows: Rows, columns: number | null): string {
  const whole = table(rows);
  if (columns === null || whole.split('\n').every((line) => displayWidth(line) <= columns)) return whole;
  const before = widthBeforeLast(rows);
  if (columns - before < LEAST_LAST) return stackedTable(rows, columns);
  return table(
    rows.flatMap((row) => {
      const [first = '', ...more] = wrapWords(row.at(-1) ?? '', columns - before);
      const blank = row.slice(0, -1).map(() => '');
      return [[...row.slice(0, -1), first], ...more.map((line) => [...blank, line])];
    }),
  );
}

/** The cells of each row one after the other, those that do not fit on rows below it. */
export function stackedTable(rows: Rows, columns: number): string {
  return rows.flatMap((row) => stackedRow(row, columns).map((line) => `${line}\n`)).join('');
}

function stackedRow(cells: readonly string[], columns: number): string[] {
  const indent = `${/^ */.exec(cells[0] ?? '')?.[0] ?? ''}${INDENT}`;
  const rows: string[] = [];
  let row: string | null = null;
  for (const cell of cells.filter((one) => one.trim() !== '')) {
    const longer: string = row === null ? cell : `${row}${INDENT}${cell}`;
    if (displayWidth(longer) <= columns) row = longer;
    else {
      if (row !== null) rows.push(row);
      const lines = wrapWords(row === null ? cell : indent + cell, columns, indent);
      rows.push(...lines.slice(0, -1));
      row = lines.at(-1) ?? '';
    }
  }
  return row === null ? rows : [...rows, row];
}

function widthBeforeLast(rows: Rows): number {
  const last = Math.max(0, ...rows.map((row) => row.length)) - 1;
  const widest = (column: number): number =>
    Math.max(0, ...rows.map((row) => (column < row.length - 1 ? displayWidth(row[column] ?? '') : 0)));
  return Array.from({ length: Math.max(0, last) }, (_, column) => widest(column) + INDENT.length).reduce(
    (sum, width) => sum + width,
    0,
  );
}

/** One line in rows between its words; those after the first begin with `indent`. */
export function wrapWords(line: string, columns: number, indent = ''): string[] {
  if (displayWidth(line) <= columns) return [line];
  const rows: string[] = [];
  let row = '';
  let blanks = '';
  for (const part of line.match(/ +|[^ ]+/g) ?? []) {
    if (part.startsWith(' ')) blanks = part;
    else {
      const longer = row + blanks + part;
      if (displayWidth(longer) <= columns) row = longer;
      else {
        if (row.trim() !== '') rows.push(row);
        const broken = wrapText(part, Math.max(1, columns - displayWidth(indent)));
        const begun = broken.map((piece, at) => (at === 0 && rows.length === 0 ? '' : indent) + piece);
        rows.push(...begun.slice(0, -1));
        row = begun.at(-1) ?? '';
      }
      blanks = '';
    }
  }
  return [...rows, row];
}

/** Every line of a text, as `wrapWords`: what continues a line is a little further in. */
export function wrapLines(text: string, columns: number | null): string {
  if (columns === null) return text;
  return text
    .split('\n')
    .flatMap((line) => wrapWords(line, columns, `${/^ */.exec(line)?.[0] ?? ''}${INDENT}`))
    .join('\n');
}
