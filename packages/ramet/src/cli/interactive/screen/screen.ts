/**
 * Output above, a few live rows below: what is appended scrolls away like any program's output, and the rows
 * below it are drawn again. It writes bytes and knows neither keys nor sessions.
 *
 * Invariants
 * 1. A frame is one write: nothing is ever seen half drawn, and the cursor ends where the input is.
 * 2. Output is written once. The terminal wraps it, so what is copied from the scrollback has no breaks of ours.
 * 3. No live row is wider than the screen, and together they are lower than it: moving up never meets the top.
 */
import { graphemesOf, graphemeWidth, isPlain } from '../../../views/text/format.ts';

export interface LiveRow {
  /** May hold colours. */
  readonly text: string;
  /** Columns it takes. */
  readonly width: number;
}

export interface LiveRows {
  readonly rows: readonly LiveRow[];
  readonly cursorRow: number;
  readonly cursorColumn: number;
}

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

export interface Screen {
  /** Adds output; it is shown with the next frame. May hold colours, and no other control but line breaks. */
  append(text: string): void;
  /** What is to stand below the output. */
  draw(live: LiveRows): void;
  /** The terminal has another size: what stood below has been wrapped again. */
  resized(columns: number): void;
  /** Empties what is visible. */
  clear(): void;
  /** Removes the live rows and leaves the cursor on an empty row below the output. */
  close(): void;
}

const CSI = '\u001b[';
/** Terminals that know it show the frame at once; the others ignore it. */
const BEGIN_FRAME = `${CSI}?2026h${CSI}?25l`;
const END_FRAME = `${CSI}?25h${CSI}?2026l`;
const TAB = 8;
const NO_ROWS: LiveRows = { rows: [], cursorRow: 0, cursorColumn: 0 };

export function createScreen(write: (bytes: string) => void, startColumns: number): Screen {
  let columns = startColumns;
  let pending = '';
  let shown = NO_ROWS;
  /** Width of the output's last line, over all rows it takes. */
  let lineWidth = 0;

  /** From where the cursor was left to where the output continues; everything from there is erased. */
  function toOutputEnd(): string {
    const column = columnAfter(lineWidth, columns);
    if (column === columns) lineWidth = 0;
    // The live rows begin below a row that holds output. A full row cannot be gone back to, and need not.
    const back = column > 0 && column < columns ? `${up(1)}${right(column)}` : '';
    return `${up(shown.cursorRow)}\r${back}${CSI}J`;
  }

  function takePending(): string {
    const { bytes, width } = terminalText(pending, lineWidth, columns);
    pending = '';
    lineWidth = width;
    return bytes + (lineWidth > 0 ? '\r\n' : '');
  }

  /** Moves to the first live row, after writing what is pending. */
  function toLiveRows(): string {
    if (pending === '') return `${up(shown.cursorRow)}\r`;
    const full = lineWidth > 0 && columnAfter(lineWidth, columns) === columns;
    // Behind a full row the line was broken already, so that the live rows could follow.
    if (full && pending.startsWith('\n')) pending = pending.slice(1);
    return toOutputEnd() + takePending();
  }

  return {
    append(text) {
      pending += text;
    },
    draw(live) {
      write(`${BEGIN_FRAME}${toLiveRows()}${rowsBelow(live)}${END_FRAME}`);
      shown = live;
    },
    resized(now) {
      const wrapped = (width: number): number => Math.max(1, Math.ceil(width / now));
      const above = shown.rows.slice(0, shown.cursorRow).reduce((sum, row) => sum + wrapped(row.width), 0);
      // Erased and not only written over: a terminal would join rows that it once broke when it grows again.
      write(`${up(above + Math.floor(shown.cursorColumn / now))}\r${CSI}J`);
      shown = NO_ROWS;
      columns = now;
    },
    clear() {
      write(`${CSI}H${CSI}2J`);
      shown = NO_ROWS;
      lineWidth = 0;
    },
    close() {
      write(`${toLiveRows()}${CSI}J${CSI}?25h`);
      shown = NO_ROWS;
      lineWidth = 0;
    },
  };
}

function rowsBelow({ rows, cursorRow, cursorColumn }: LiveRows): string {
  const drawn = rows.map(({ text }) => `${text}${CSI}K`).join('\r\n');
  return `${drawn}${CSI}J${up(rows.length - 1 - cursorRow)}\r${right(cursorColumn)}`;
}

function up(rows: number): string {
  return rows > 0 ? `${CSI}${rows}A` : '';
}

function right(columns: number): string {
  return columns > 0 ? `${CSI}${columns}C` : '';
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with Escape and take no room
const COLOUR_OR_TAB = /(\t|\u001b\[[0-9;]*m)/;

/** The text as a raw terminal wants it, tabs as blanks, and the width of its last line. */
function terminalText(text: string, start: number, columns: number): { bytes: string; width: number } {
  let bytes = '';
  let width = start;
  for (const [index, line] of text.split('\n').entries()) {
    if (index > 0) {
      bytes += '\r\n';
      width = 0;
    }
    for (const part of line.split(COLOUR_OR_TAB)) {
      const shown = part === '\t' ? ' '.repeat(TAB - (width % TAB)) : part;
      bytes += shown;
      if (!shown.startsWith('\u001b')) width = widthAfter(width, shown, columns);
    }
  }
  return { bytes, width };
}

/** As a terminal wraps: a wide character that does not fit leaves the last column empty. */
function widthAfter(start: number, text: string, columns: number): number {
  if (isPlain(text)) return start + text.length;
  let width = start;
  for (const grapheme of graphemesOf(text)) {
    const cells = graphemeWidth(grapheme);
    const room = columns - (width % columns);
    width += cells > room ? cells + room : cells;
  }
  return width;
}

/** 0 at the start of a line, `columns` behind a full row. */
function columnAfter(width: number, columns: number): number {
  return width === 0 ? 0 : ((width - 1) % columns) + 1;
}
