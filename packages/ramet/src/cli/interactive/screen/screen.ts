/**
 * Output above, a few live rows below: what is appended scrolls away like any program's output, and the rows
 * below it are drawn again. It writes bytes and knows neither keys nor sessions.
 *
 * Invariants
 * 1. A frame is one write: nothing is ever seen half drawn, and the cursor ends where the input is.
 * 2. Output is written once. Only what is in sight is drawn again, for another size or when a person asks for it.
 * 3. No live row is wider than the screen, and together they are lower than it: moving up never meets the top.
 * 4. A frame that would change nothing is not written.
 * 5. While the size changes nothing is written, for 20 seconds at most; then only from the live rows on.
 * 6. The whole screen is never erased at once: some terminals would keep what was on it in their scrollback.
 */
import { type Clock, elapsedOf, systemClock } from '../../../schema/clock.ts';
import type { Block } from '../markdown/blocks.ts';
import {
  heightOfAll,
  InSight,
  isSameSize,
  type LiveRow,
  type LiveRows,
  type ScreenSize,
  textColumns,
} from './in-sight.ts';

export type { LiveRow, LiveRows, ScreenSize };

export interface Screen {
  /** Adds output; it is shown with the next frame. */
  append(blocks: readonly Block[]): void;
  /** What is to stand below the output. */
  draw(live: LiveRows): void;
  /**
   * Draws again what is in sight. With another size it waits until that has settled: the terminal wraps what stands there in its
   * own way, and what is written before it has told its last size would be written over the wrong rows.
   */
  redraw(live: LiveRows, size: ScreenSize): void;
  /** The size that all was drawn for. */
  readonly size: ScreenSize;
  /** Something else has the terminal: nothing is drawn before `draw` or `redraw` is called again. */
  rest(): void;
  /** Another program had the terminal, and has left it with this size: what follows is drawn below whatever stands there. */
  reopen(size: ScreenSize): void;
  /** Removes the live rows and leaves the cursor on an empty row below the output. */
  close(): void;
}

const CSI = '\u001b[';
/** Terminals that know it show the frame at once; the others ignore it. */
const BEGIN_FRAME = `${CSI}?2026h${CSI}?25l`;
const END_FRAME = `${CSI}?25h${CSI}?2026l`;
/** Live rows are never wrapped: in a terminal that has become narrower and has not told it, the cursor would end too low. */
const WRAP_OFF = `${CSI}?7l`;
const WRAP_ON = `${CSI}?7h`;
/** From the start of a row on. In two steps, for invariant 6. */
const ERASE_BELOW = `${CSI}K${CSI}C${CSI}J\r`;
/**
 * For this long after a change of its size a terminal may have another size than it told: tmux resizes at once and tells
 * 250 ms later, and over a slow link what was written before arrives after it.
 */
const SETTLE_MS = 300;
/** What is told so soon after a drawing may have been so before it. */
const IN_FLIGHT_MS = 300;
/** A terminal whose size never settles shows something too. */
const LONGEST_HOLD_MS = 20_000;

/** The size is changing: nothing is written, so that what stands on the terminal is known when it has settled. */
interface Hold {
  /** Ends the wait for it to settle. */
  readonly waiting: AbortController;
  readonly size: ScreenSize;
  /** The terminal may have been as low as this. */
  readonly lowest: number;
  /** Rows that the last drawing may have written over, because the terminal was larger by then. */
  readonly missed: number;
  live: LiveRows;
  since: number;
}

export function createScreen(
  write: (bytes: string) => void,
  start: ScreenSize,
  clock: Clock = systemClock,
): Screen {
  const sight = new InSight(start);
  let pending: Block[] = [];
  let hold: Hold | null = null;
  let drawnAt = Number.NEGATIVE_INFINITY;

  function takePending(): { bytes: string; added: number } {
    let bytes = '';
    let added = 0;
    for (const block of pending) {
      for (const { text } of sight.rowsOf(block)) bytes += `${text}\r\n`;
      added += sight.keep(block);
    }
    pending = [];
    return { bytes, added };
  }

  /** Moves from where the cursor is: whatever the size, what stands above the live rows is not touched. */
  function drawBelow(live: LiveRows): void {
    // With nothing to add and the same rows, nothing on the screen would change.
    if (pending.length === 0 && isSame(live, sight.live)) return;
    const { bytes, added } = takePending();
    const output = added === 0 ? '' : ERASE_BELOW + bytes;
    write(`${BEGIN_FRAME}${up(sight.live.cursorRow)}\r${output}${rowsBelow(live)}${END_FRAME}`);
    sight.shows(live, added);
  }

  function drawAll(live: LiveRows, { size, lowest, missed }: Pick<Hold, 'size' | 'lowest' | 'missed'>): void {
    const start = up(sight.aboveCursor(size));
    const inSight = sight.rowsAt(size, lowest) + missed;
    drawnAt = elapsedOf(clock);
    sight.resize(size);
    // All of it, however much has come while the size changed: of what was written before only the end is kept.
    const fresh = pending.flatMap((block) => [...sight.rowsOf(block)]);
    const added = heightOfAll(fresh, size.columns);
    sight.shows(live, added);
    const { below } = sight;
    const room = Math.max(0, size.rows - below - live.rows.length);
    // What was in sight and what has never been there is written whole, and scrolls away if it must.
    const output = [...sight.tail(Math.max(room - added, inSight)), ...fresh];
    takePending();
    const fills = heightOfAll(output, size.columns) >= room;
    const lines = (rows: readonly LiveRow[]): string =>
      rows.map((row) => lineOf(row, size.columns)).join('\r\n');
    const gap = output.length > 0 && live.rows.length > 0 ? '\r\n' : '';
    const drawn = `${lines(output)}${gap}${WRAP_OFF}${lines(live.rows)}${WRAP_ON}`;
    // Where the output begins on the screen is known only if it fills it.
    const bytes = fills
      ? `${CSI}H${drawn}${`\r\n${CSI}K`.repeat(below)}${toCursor(live, below)}`
      : `${start}\r${drawn}${CSI}J${toCursor(live, 0)}`;
    write(`${BEGIN_FRAME}${bytes}${END_FRAME}`);
  }

  function holdFor(live: LiveRows, size: ScreenSize): void {
    hold?.waiting.abort();
    const now = elapsedOf(clock);
    const begun: Hold = {
      waiting: new AbortController(),
      size,
      // Between two sizes that were told there may have been others, of any height.
      lowest: hold === null ? size.rows : 0,
      missed: Math.max(hold?.missed ?? 0, now - drawnAt < IN_FLIGHT_MS ? moreRows(size, sight.size) : 0),
      live,
      since: hold?.since ?? now,
    };
    hold = begun;
    void clock.sleep(SETTLE_MS, begun.waiting.signal).then(() => {
      if (hold !== begun) return;
      hold = null;
      drawAll(begun.live, begun);
    });
  }

  function rest(): void {
    hold?.waiting.abort();
    hold = null;
  }

  return {
    get size() {
      return sight.size;
    },
    append(blocks) {
      pending.push(...blocks);
    },
    draw(live) {
      if (hold === null) drawBelow(live);
      else {
        hold.live = live;
        const now = elapsedOf(clock);
        if (now - hold.since < LONGEST_HOLD_MS) return;
        hold.since = now;
        drawBelow(live);
      }
    },
    redraw(live, size) {
      if (hold === null && isSameSize(size, sight.size))
        drawAll(live, { size, lowest: size.rows, missed: 0 });
      else holdFor(live, size);
    },
    rest,
    reopen: (size) => sight.resize(size),
    close() {
      rest();
      write(`${up(sight.live.cursorRow)}\r${ERASE_BELOW}${takePending().bytes}${CSI}?25h`);
      sight.clearLive();
    },
  };
}

/** Rows that a terminal of this size shows and one of the other did not. */
function moreRows({ columns, rows }: ScreenSize, other: ScreenSize): number {
  return columns > other.columns ? rows : Math.max(0, rows - other.rows);
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

function rowsBelow(live: LiveRows): string {
  const drawn = live.rows.map(({ text }) => `${text}${CSI}K`).join('\r\n');
  return `${WRAP_OFF}${drawn}${WRAP_ON}${CSI}J${toCursor(live, 0)}`;
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
