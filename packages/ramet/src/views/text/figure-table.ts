/** Names on the left, figures on the right: a table that fits the terminal, or 80 columns, whatever the names are. */
import { displayWidth, fitText } from './display-width.ts';

const COLUMNS = 80;
const LEAST_NAME = 12;
/** A name cut shorter says nothing. */
const LEAST_CUT = 6;

/** Figures keep their width; names get what is left, and are cut where that is too little. */
export function figureTable(rows: readonly (readonly string[])[], wanted: number | null = null): string {
  const columns = Math.max(COLUMNS, wanted ?? 0);
  const widths = columnWidths(rows);
  const figures = widths.slice(1);
  const gap = fits(widths, 2, columns) ? 2 : 1;
  const left = columns - figures.reduce((sum, width) => sum + width + gap, 0);
  const name = Math.min(widths[0] ?? 0, Math.max(LEAST_NAME, left));
  return rows.map((row) => line(row, name, figures, gap)).join('');
}

function columnWidths(rows: readonly (readonly string[])[]): number[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  return Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => displayWidth(row[column] ?? ''))),
  );
}

function fits(widths: readonly number[], gap: number, columns: number): boolean {
  return widths.reduce((sum, width) => sum + width + gap, -gap) <= columns;
}

function line(
  [name = '', ...cells]: readonly string[],
  nameWidth: number,
  widths: readonly number[],
  gap: number,
): string {
  if (cells.length === 0) return `${fitText(name, COLUMNS)}\n`;
  const shown = fitName(name, nameWidth);
  const padding = ' '.repeat(Math.max(0, nameWidth - displayWidth(shown)));
  const figures = cells.map((cell, index) => ' '.repeat(gap) + cell.padStart(widths[index] ?? 0));
  return `${`${shown}${padding}${figures.join('')}`.trimEnd()}\n`;
}

/** What stands in brackets behind a name stays whole: it is short, and says what the name does not. */
function fitName(name: string, width: number): string {
  const [, head = name, note = ''] = /^(.*?)( \[[^[\]]*\])$/.exec(name) ?? [];
  const left = width - displayWidth(note);
  return left < LEAST_CUT ? fitText(name, width) : `${fitText(head, left)}${note}`;
}
