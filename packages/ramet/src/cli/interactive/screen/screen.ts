/**
 * Output above, a few live rows below: what is appended scrolls away like any program's output, and the rows
 * below it are drawn again. It writes bytes and knows neither keys nor sessions.
 *
 * Invariants
 * 1. A frame is one write: nothing is ever seen half drawn, and the cursor ends where the input is.
 * 2. Output is written once. Only what is in sight is drawn again, for another size or when a person asks for it.
 * 3. No live row is wider than the screen, and together they are lower than it: moving up never meets the top.
 * 4. A frame that would change nothing is not written.
 * 5. The whole screen is never erased at once: some terminals would keep what was on it in their scrollback.
 */
import type { Block } from '../markdown/blocks.ts';
import { brokenRows, type Row } from '../markdown/wrapped-rows.ts';

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
  /** Adds output; it is shown with the next frame. */
  append(blocks: readonly Block[]): void;
  /** What is to stand below the output. */
  draw(live: LiveRows): void;
  /** Draws again what is in sight. The terminal may have another size, and has then wrapped what stood there in its own way. */
  redraw(live: LiveRows, size: ScreenSize): void;
  /** Removes the live rows and leaves the cursor on an empty row below the output. */
  close(): void;
}

const CSI = '\u001b[';
/** Terminals that know it show the frame at once; the others ignore it. */
const BEGIN_FRAME = `${CSI}?2026h${CSI}?25l`;
const END_FRAME = `${CSI}?25h${CSI}?2026l`;
/** From the start of a row on. In two steps, for invariant 5. */
const ERASE_BELOW = `${CSI}K${CSI}C${CSI}J\r`;
const NO_ROWS: LiveRows = { rows: [], cursorRow: 0, cursorColumn: 0 };
/** Rows of output that are kept to be drawn again: more than any screen has. */
const KEPT_ROWS = 600;
/** Within this time a terminal that is being resized may have another size than it told. */
const UNSURE_MS = 500;

interface Kept {
  readonly block: Block;
  readonly height: number;
}

export function createScreen(write: (bytes: string) => void, start: ScreenSize): Screen {
  let { columns, rows: height } = start;
  let pending: Block[] = [];
  let kept: Kept[] = [];
  let keptRows = 0;
  let shown = NO_ROWS;
  /** How many rows are free below the live ones, at most; exactly, once it has been none. */
  let below = height - 1;
  /** When all was drawn again, and the rows of output since. A terminal may have had another size by then, and more room. */
  let drawnAgain = { at: Number.NEGATIVE_INFINITY, added: 0 };

  const rowsOf = ({ rows }: Block): readonly Row[] => rows(textColumns(columns));
  const rowsTaken = (row: Row): number => heightOf(row, columns);

  function takePending(): { bytes: string; added: number } {
    let bytes = '';
    let added = 0;
    for (const block of pending) {
      const rows = rowsOf(block);
      for (const { text } of rows) bytes += `${text}\r\n`;
      added += keep(
        block,
        rows.reduce((sum, row) => sum + rowsTaken(row), 0),
      );
    }
    pending = [];
    return { bytes, added };
  }

  function keep(block: Block, taken: number): number {
    kept.push({ block, height: taken });
    keptRows += taken;
    let old = 0;
    while (keptRows - (kept[old]?.height ?? 0) > KEPT_ROWS) keptRows -= kept[old++]?.height ?? 0;
    if (old > 0) kept = kept.slice(old);
    return taken;
  }

  /** The live rows are these, below `added` new rows of output. */
  function show(live: LiveRows, added: number): void {
    below = Math.min(height - 1, Math.max(0, below - added - (liveHeight(live) - liveHeight(shown))));
    drawnAgain.added += added;
    shown = live;
  }

  /** The last rows of the output, as many as there are, up to `most`. */
  function tail(most: number): Row[] {
    const found: Row[] = [];
    let left = most;
    for (const { block } of kept.toReversed()) {
      if (left <= 0) break;
      for (const row of rowsOf(block).toReversed()) {
        if (left <= 0) break;
        const parts = rowsTaken(row) <= left ? [row] : brokenRows(row, columns).slice(-left);
        found.push(...parts.reverse());
        left -= Math.min(left, rowsTaken(row));
      }
    }
    return found.reverse();
  }

  /**
   * How many rows the output in sight takes at the new width. A terminal has broken the rows that stood there; from the first of
   * them on all must be written again, or scroll away: what is written over is nowhere else.
   */
  function rowsInSight(size: ScreenSize): number {
    const isSame = size.columns === columns && size.rows === height;
    const standing = shown.rows.reduce((sum, row) => sum + heightOf(row, size.columns), 0);
    // A terminal that gets lower first gives up what stands below the cursor.
    const givenUp = Math.max(0, Math.min(height - size.rows, shown.rows.length - 1 - shown.cursorRow));
    let room = size.rows - (isSame ? below : 0) - standing + givenUp;
    let taken = 0;
    for (const { block } of kept.toReversed()) {
      if (room <= 0) break;
      const stood = rowsOf(block).reduce((sum, row) => sum + heightOf(row, size.columns), 0);
      const written = block
        .rows(textColumns(size.columns))
        .reduce((sum, row) => sum + heightOf(row, size.columns), 0);
      taken += stood <= room ? written : stood === written ? room : partOf(written, room / stood);
      room -= stood;
    }
    return taken;
  }

  /** Back to where the output began, by how terminals wrap rows of another width. */
  function toStart(size: ScreenSize): string {
    const above = [...kept.flatMap(({ block }) => rowsOf(block)), ...shown.rows.slice(0, shown.cursorRow)];
    const rows = above.reduce((sum, row) => sum + heightOf(row, size.columns), 0);
    return up(Math.min(size.rows - 1, rows + Math.floor(shown.cursorColumn / size.columns)));
  }

  return {
    append(blocks) {
      pending.push(...blocks);
    },
    draw(live) {
      // With nothing to add and the same rows, nothing on the screen would change.
      if (pending.length === 0 && isSame(live, shown)) return;
      const { bytes, added } = takePending();
      const output = added === 0 ? '' : ERASE_BELOW + bytes;
      write(`${BEGIN_FRAME}${up(shown.cursorRow)}\r${output}${rowsBelow(live)}${END_FRAME}`);
      show(live, added);
    },
    redraw(live, size) {
      const start = toStart(size);
      const hasChanged = size.columns !== columns || size.rows !== height;
      const at = performance.now();
      // If it was higher then, that did not scroll away. Rather rows twice than none.
      const isUnsure = hasChanged && at - drawnAgain.at < UNSURE_MS;
      const unsure = isUnsure ? Math.min(drawnAgain.added, Math.max(size.rows, height)) : 0;
      const inSight = rowsInSight(size) + unsure;
      drawnAgain = { at, added: 0 };
      if (hasChanged) below = 0;
      ({ columns, rows: height } = size);
      const { added } = takePending();
      show(live, added);
      const room = Math.max(0, height - below - live.rows.length);
      // What was in sight and what has never been there is written whole, and scrolls away if it must.
      const output = tail(Math.max(room, inSight + added));
      const fills = output.reduce((sum, row) => sum + rowsTaken(row), 0) >= room;
      const drawn = [...output, ...live.rows].map((row) => lineOf(row, columns)).join('\r\n');
      // Where the output begins on the screen is known only if it fills it.
      const bytes = fills
        ? `${CSI}H${drawn}${`\r\n${CSI}K`.repeat(below)}${toCursor(live, below)}`
        : `${start}\r${drawn}${CSI}J${toCursor(live, 0)}`;
      write(`${BEGIN_FRAME}${bytes}${END_FRAME}`);
    },
    close() {
      write(`${up(shown.cursorRow)}\r${ERASE_BELOW}${takePending().bytes}${CSI}?25h`);
      shown = NO_ROWS;
    },
  };
}

/** The last column stays free: a terminal that has written there is between two rows. */
export function textColumns(columns: number): number {
  return Math.max(1, columns - 1);
}

/** Of a block that begins above the screen; rather a row twice than none. */
function partOf(rows: number, share: number): number {
  return Math.min(rows, Math.ceil(rows * share) + 1);
}

/** Rows that the terminal makes of it. */
function heightOf(row: Row, columns: number): number {
  return row.width <= columns ? 1 : brokenRows(row, columns).length;
}

/** Behind a full row the cursor stands on its last column, which would be erased. */
function lineOf({ text, width }: LiveRow, columns: number): string {
  return width > 0 && width % columns === 0 ? text : `${text}${CSI}K`;
}

function isSame(one: LiveRows, other: LiveRows): boolean {
  return (
    one.cursorRow === other.cursorRow &&
    one.cursorColumn === other.cursorColumn &&
    one.rows.length === other.rows.length &&
    one.rows.every(({ text }, index) => text === other.rows[index]?.text)
  );
}

function liveHeight({ rows }: LiveRows): number {
  return Math.max(1, rows.length);
}

function rowsBelow(live: LiveRows): string {
  const drawn = live.rows.map(({ text }) => `${text}${CSI}K`).join('\r\n');
  return `${drawn}${CSI}J${toCursor(live, 0)}`;
}

function toCursor({ rows, cursorRow, cursorColumn }: LiveRows, below: number): string {
  return `${up(rows.length - 1 - cursorRow + below)}\r${right(cursorColumn)}`;
}

function up(rows: number): string {
  return rows > 0 ? `${CSI}${rows}A` : '';
}

function right(columns: number): string {
  return columns > 0 ? `${CSI}${columns}C` : '';
}

/**
 * Something that has the whole screen above the live rows for a while, on the terminal's second screen: what was there comes
 * back afterwards.
 */
export interface FullScreen {
  /** Exactly `rows` of them, none wider than `columns`. */
  rows(size: ScreenSize): readonly LiveRow[];
}

export const ENTER_FULL_SCREEN: string = `${CSI}?1049h`;
export const LEAVE_FULL_SCREEN: string = `${CSI}?1049l`;

/** One frame, drawn over the last: nothing is erased before it is written again. */
export function fullFrame(full: FullScreen, below: LiveRows, { columns, rows }: ScreenSize): string {
  const height = Math.max(0, rows - below.rows.length);
  const drawn = [...full.rows({ columns: textColumns(columns), rows: height }), ...below.rows];
  const lines = drawn.map(({ text }) => `${text}${CSI}K`).join('\r\n');
  const up = below.rows.length - 1 - below.cursorRow;
  const back = `${up > 0 ? `${CSI}${up}A` : ''}\r`;
  const right = below.cursorColumn > 0 ? `${CSI}${below.cursorColumn}C` : '';
  return `${CSI}?2026h${CSI}?25l${CSI}H${lines}${back}${right}${CSI}?25h${CSI}?2026l`;
}
