/** Where the cells of the input stand on a screen of a given width, and which rows are shown. Pure. */
import { displayWidth, fitText, graphemeWidth } from '../../../views/text/format.ts';
import type { Cell, EditorState } from './line-editor.ts';

export interface InputLayout {
  readonly rows: readonly string[];
  readonly cursorRow: number;
  readonly cursorColumn: number;
}

export interface LayoutOptions {
  /** Columns that may be written to. */
  readonly columns: number;
  /** Most rows to show; those around the cursor are. */
  readonly maxRows: number;
  /** Before the first row; the others are indented by as much. */
  readonly prompt: string;
}

export function layoutInput({ cells, cursor }: EditorState, options: LayoutOptions): InputLayout {
  const indent = displayWidth(options.prompt);
  const columns = Math.max(indent + 2, options.columns);
  const rows: string[] = [options.prompt];
  let column = indent;
  let place = { row: 0, column };
  const breakRow = (): void => {
    rows.push(' '.repeat(indent));
    column = indent;
  };
  for (let index = 0; index <= cells.length; index++) {
    const cell = cells[index];
    const shown = cell === undefined ? '' : shownCell(cell, columns - indent);
    const width = shown.length === 1 ? graphemeWidth(shown) : displayWidth(shown);
    // The cursor itself takes a column, so a full row is broken before it.
    if (column + Math.max(1, width) > columns) breakRow();
    if (index === cursor) place = { row: rows.length - 1, column };
    if (cell === '\n') breakRow();
    else {
      rows[rows.length - 1] += shown;
      column += width;
    }
  }
  return windowAround(rows, place, options.maxRows);
}

function shownCell(cell: Cell, room: number): string {
  if (typeof cell !== 'string') return fitText(cell.label, room);
  return cell === '\t' ? '  ' : cell === '\n' ? '' : cell;
}

function windowAround(
  rows: readonly string[],
  place: { row: number; column: number },
  maxRows: number,
): InputLayout {
  const height = Math.max(1, Math.min(rows.length, maxRows));
  const first = Math.min(Math.max(0, place.row - height + 1), rows.length - height);
  return {
    rows: rows.slice(first, first + height),
    cursorRow: place.row - first,
    cursorColumn: place.column,
  };
}
