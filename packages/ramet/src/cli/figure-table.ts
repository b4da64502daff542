/** Names on the left, figures on the right: a table that fits a terminal of 80 columns whatever the names are. */
import { displayWidth, fitText } from './interactive/display-width.ts';

const COLUMNS = 80;
const LEAST_NAME = 12;

/** Figures keep their width; names get what is left, and are cut where that is too little. */
export function figureTable(rows: readonly (readonly string[])[]): string {
  const widths = columnWidths(rows);
  const figures = widths.slice(1);
  const gap = fits(widths, 2) ? 2 : 1;
  const left = COLUMNS - figures.reduce((sum, width) => sum + width + gap, 0);
  const name = Math.min(widths[0] ?? 0, Math.max(LEAST_NAME, left));
  return rows.map((row) => line(row, name, figures, gap)).join('');
}

function columnWidths(rows: readonly (readonly string[])[]): number[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  return Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => displayWidth(row[column] ?? ''))),
  );
}

function fits(widths: readonly number[], gap: number): boolean {
  return widths.reduce((sum, width) => sum + width + gap, -gap) <= COLUMNS;
}

function line(
  [name = '', ...cells]: readonly string[],
  nameWidth: number,
  widths: readonly number[],
  gap: number,
): string {
  if (cells.length === 0) return `${fitText(name, COLUMNS)}\n`;
  const shown = fitText(name, nameWidth);
  const padding = ' '.repeat(Math.max(0, nameWidth - displayWidth(shown)));
  const figures = cells.map((cell, index) => ' '.repeat(gap) + cell.padStart(widths[index] ?? 0));
  return `${`${shown}${padding}${figures.join('')}`.trimEnd()}\n`;
}
