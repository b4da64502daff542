/**
 * The text being written and where the cursor stands. Pure: every operation returns the next state. Text is a
 * row of cells, each one character to a reader, a line break, or a whole paste that is too long to show.
 *
 * Invariants
 * 1. The cursor stands between cells: 0 <= cursor <= cells.length.
 * 2. No cell holds a control character, except a line break or a tab by itself.
 */
import { graphemesOf } from '../../../views/text/format.ts';

/** A paste that is shown by its size and sent whole. */
export interface PastedText {
  readonly pasted: string;
  readonly label: string;
}

export type Cell = string | PastedText;

export interface EditorState {
  readonly cells: readonly Cell[];
  readonly cursor: number;
}

export const EMPTY_EDITOR: EditorState = { cells: [], cursor: 0 };

/** A longer paste is folded into one cell. */
const LONGEST_SHOWN_PASTE = 1_000;
const MOST_SHOWN_LINES = 8;

export function editorText({ cells }: EditorState): string {
  return cells.map((cell) => (typeof cell === 'string' ? cell : cell.pasted)).join('');
}

/** Text with the cursor at its end. What is too long to show is folded, as when it was pasted. */
export function editorOf(text: string): EditorState {
  return insertPaste(EMPTY_EDITOR, text);
}

export function insertText(state: EditorState, text: string): EditorState {
  const before = state.cells[state.cursor - 1];
  const clean = withoutControls(text);
  if (clean === '') return state;
  // A combining mark belongs to the character before it.
  const joins = typeof before === 'string' && before !== '\n' && before !== '\t';
  const inserted = graphemesOf(joins ? before + clean : clean);
  return splice(state, joins ? state.cursor - 1 : state.cursor, state.cursor, inserted);
}

export function insertPaste(state: EditorState, text: string): EditorState {
  const clean = withoutControls(text.replace(/\r\n?/g, '\n'));
  const folded = clean.length > LONGEST_SHOWN_PASTE || lineCount(clean) > MOST_SHOWN_LINES;
  if (!folded) return insertText(state, clean);
  return splice(state, state.cursor, state.cursor, [{ pasted: clean, label: pasteLabel(clean) }]);
}

export function moveBy(state: EditorState, cells: number): EditorState {
  return moveTo(state, state.cursor + cells);
}

export function moveTo({ cells }: EditorState, cursor: number): EditorState {
  return { cells, cursor: Math.min(cells.length, Math.max(0, cursor)) };
}

/** Removes what is between the cursor and `to`, on either side of it. */
export function deleteTo(state: EditorState, to: number): EditorState {
  const other = moveTo(state, to).cursor;
  return splice(state, Math.min(state.cursor, other), Math.max(state.cursor, other), []);
}

export function lineStart({ cells, cursor }: EditorState): number {
  // A search from -1 would begin at the other end.
  return cursor === 0 ? 0 : cells.lastIndexOf('\n', cursor - 1) + 1;
}

export function lineEnd({ cells, cursor }: EditorState): number {
  const end = cells.indexOf('\n', cursor);
  return end === -1 ? cells.length : end;
}

export function wordStart({ cells, cursor }: EditorState): number {
  let at = cursor;
  while (at > 0 && isSpace(cells[at - 1])) at--;
  while (at > 0 && !isSpace(cells[at - 1])) at--;
  return at;
}

export function wordEnd({ cells, cursor }: EditorState): number {
  let at = cursor;
  while (at < cells.length && isSpace(cells[at])) at++;
  while (at < cells.length && !isSpace(cells[at])) at++;
  return at;
}

/** One line up (-1) or down (1), in the same column where the line is long enough; null at the edge. */
export function moveLine(state: EditorState, direction: -1 | 1): EditorState | null {
  const start = lineStart(state);
  const column = state.cursor - start;
  const edge = direction === -1 ? start - 1 : lineEnd(state) + 1;
  if (edge < 0 || edge > state.cells.length) return null;
  const other = moveTo(state, edge);
  return moveTo(state, Math.min(lineStart(other) + column, lineEnd(other)));
}

function splice({ cells }: EditorState, from: number, to: number, inserted: readonly Cell[]): EditorState {
  return {
    cells: [...cells.slice(0, from), ...inserted, ...cells.slice(to)],
    cursor: from + inserted.length,
  };
}

function isSpace(cell: Cell | undefined): boolean {
  return typeof cell === 'string' && /^\s$/.test(cell);
}

function withoutControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out.
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
}

/** `[pasted 5.0 MB, 12,345 lines]`: how a paste is shown that is too long to be. */
export function pasteLabel(text: string): string {
  const lines = lineCount(text) - (text.endsWith('\n') ? 1 : 0);
  const size = sizeText(Buffer.byteLength(text));
  return `[pasted ${size}, ${lines.toLocaleString('en-US')} line${lines === 1 ? '' : 's'}]`;
}

function lineCount(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
