/**
 * Output above, a few live rows below: what is appended scrolls away like any program's output, and the rows
 * below it are drawn again. It writes bytes and knows neither keys nor sessions.
 *
 * When the size changes, the terminal wraps what stands there in its own way and pulls rows back from its scrollback, and it
 * tells its size late. So nothing is written until the told size has settled and the terminal itself, asked, has the same. It
 * also says where its cursor is: from the rows above the cursor follows which output is in sight. Exactly that is
 * written over and again, by moves from the cursor, so rows that a terminal pulls back at the last moment are not touched.
 * Where the terminal does not answer, what stands there stays as it is.
 *
 * Invariants
 * 1. A frame is one write: nothing is ever seen half drawn, and the cursor ends where the input is.
 * 2. Output is written once. Only what is in sight is drawn again, for another size or when a person asks for it.
 * 3. No live row is wider than the screen, and together they are lower than it: moving up never meets the top.
 * 4. A frame that would change nothing is not written.
 * 5. While the size changes nothing is written, for 20 seconds at most; then only from the live rows on.
 * 6. The whole screen is never erased at once: some terminals would keep what was on it in their scrollback.
 * 7. A row is erased from its first column on before it is written: a row that the terminal had broken would else be joined with
 *    the next one when it gets wider (tmux), and what is above would be written over.
 * 8. Output that may have been written over is written again: rather a row twice than none.
 */
import { type Clock, elapsedOf, systemClock } from '../../../schema/clock.ts';
import type { Block } from '../markdown/blocks.ts';
import {
  InSight,
  isSameSize,
  type LiveRow,
  type LiveRows,
  type ScreenSize,
  type StandingScreen,
} from './in-sight.ts';
import { heightOfAll, SURE, textColumns, type UnsureOutput } from './kept-output.ts';
import type { SeenScreen } from './screen-question.ts';

export type { LiveRow, LiveRows, ScreenSize };

export interface Screen {
  /** Adds output; it is shown with the next frame. */
  append(blocks: readonly Block[]): void;
  /** What is to stand below the output. */
  draw(live: LiveRows): void;
  /** Draws again what is in sight. */
  redraw(live: LiveRows): void;
  /**
   * The terminal has told a size, another one or again the same: in between it may have had others. Draws again what is in sight
   * when it has settled.
   */
  resized(live: LiveRows, size: ScreenSize): void;
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
/** A size that has changed twice in a short time changes again: what is drawn meets the next one, and is in the scrollback twice. */
const SETTLE_AGAIN_MS = 450;
/** What was drawn so shortly before a size was told may have met that size. */
const IN_FLIGHT_MS = 2_000;
/** A terminal that says another size than it told is asked again so often; then it has the size that it says. */
const MOST_QUESTIONS = 5;
/** A terminal whose size never settles shows something too. */
const LONGEST_HOLD_MS = 20_000;

/** The size is changing: nothing is written, so that what stands on the terminal is known when it has settled. */
interface Hold {
  /** Ends the wait for it to settle. */
  readonly waiting: AbortController;
  readonly size: ScreenSize;
  /** As in `StandingScreen`. */
  readonly isCut: boolean;
  readonly settleMs: number;
  live: LiveRows;
  since: number;
}

export function createScreen(
  write: (bytes: string) => void,
  start: ScreenSize,
  clock: Clock = systemClock,
  /** Where the terminal cannot be asked, its size is read before every frame: nothing is drawn for an earlier one. */
  ask: (() => Promise<SeenScreen | null>) | null = null,
): Screen {
  const sight = new InSight(start);
  let pending: Block[] = [];
  let hold: Hold | null = null;
  let wroteAt = Number.NEGATIVE_INFINITY;
  let resizedAt = Number.NEGATIVE_INFINITY;
  let drawings = 0;
  /** Output that may have been written over: the terminal may have become wider when the last drawing came. */
  let unsure = SURE;

  function writeFrame(bytes: string): void {
    wroteAt = elapsedOf(clock);
    write(`${BEGIN_FRAME}${bytes}${END_FRAME}`);
  }

  function takePending(): { bytes: string; added: number } {
    let bytes = '';
    let added = 0;
    for (const block of pending) {
      const rows = sight.rowsOf(block);
      for (const { text } of rows) bytes += `${text}\r\n`;
      added += sight.keep(block, rows);
    }
    pending = [];
    return { bytes, added };
  }

  /** Moves from where the cursor is: whatever the size, what stands above the live rows is not touched. */
  function drawBelow(live: LiveRows, above: number = sight.live.cursorRow): void {
    // With nothing to add and the same rows, nothing on the screen would change.
    if (pending.length === 0 && isSame(live, sight.live)) return;
    const { bytes, added } = takePending();
    const output = added === 0 ? '' : ERASE_BELOW + bytes;
    writeFrame(`${up(above)}\r${output}${rowsBelow(live)}`);
    sight.shows(live, added);
  }

  function drawAll(live: LiveRows, size: ScreenSize, standing: StandingScreen): void {
    const isFull = sight.below === 0;
    const { above, rows, top, unsure: mayBeGone } = sight.again(standing, size, unsure);
    const output = [...rows, ...pending.flatMap((block) => [...sight.rowsOf(block)])];
    takePending();
    const lines = (drawn: readonly LiveRow[]): string => drawn.map(({ text }) => text).join('\r\n');
    const gap = output.length > 0 && live.rows.length > 0 ? '\r\n' : '';
    const drawn = `${lines(output)}${gap}${WRAP_OFF}${lines(live.rows)}${WRAP_ON}`;
    // A person asks for it when something else was written there: then the cursor may be anywhere.
    const start = standing.cursorRow === null && isFull ? `${CSI}H${'\n'.repeat(top)}` : `${up(above)}\r`;
    writeFrame(`${start}${ERASE_BELOW}${drawn}${toCursor(live)}`);
    sight.leaves(size.rows - top - heightOfAll(output, size.columns) - live.rows.length, live);
    if (standing.cursorRow !== null) void verify(size, mayBeGone);
  }

  /** In a terminal that was wider by then, moving up has met output that was not written again. */
  async function verify({ columns }: ScreenSize, mayBeGone: UnsureOutput): Promise<void> {
    const drawing = ++drawings;
    unsure = mayBeGone;
    const seen = await (ask?.() ?? null);
    if (drawing === drawings && seen !== null && seen.size.columns <= columns) unsure = SURE;
  }

  function holdFor(live: LiveRows, size: ScreenSize): void {
    hold?.waiting.abort();
    const now = elapsedOf(clock);
    const begun: Hold = {
      waiting: new AbortController(),
      size,
      isCut: hold?.isCut === true || (ask !== null && now - wroteAt < IN_FLIGHT_MS),
      settleMs: now - resizedAt < IN_FLIGHT_MS ? SETTLE_AGAIN_MS : SETTLE_MS,
      live,
      since: hold?.since ?? now,
    };
    resizedAt = now;
    hold = begun;
    void settle(begun);
  }

  async function settle(begun: Hold): Promise<void> {
    let seen: SeenScreen | null = null;
    for (let asked = 0; asked < MOST_QUESTIONS; asked++) {
      await clock.sleep(begun.settleMs, begun.waiting.signal);
      if (hold !== begun) return;
      seen = await (ask?.() ?? null);
      if (hold !== begun) return;
      // What it says may be older than what it tells: then it will tell another size.
      if (seen === null || isSameSize(seen.size, begun.size)) break;
    }
    hold = null;
    const { live, size, isCut } = begun;
    if (seen !== null) drawAll(live, size, { cursorRow: seen.cursorRow, columns: seen.size.columns, isCut });
    else {
      const above = sight.liveAbove({ columns: size.columns, isCut });
      sight.resize(size);
      // The terminal may have dropped those below the cursor.
      sight.clearLive();
      drawBelow(live, above);
    }
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
        drawBelow(live);
        // What was asked before is no longer so.
        hold.since = now;
        holdFor(live, hold.size);
      }
    },
    redraw(live) {
      const { size } = sight;
      if (hold === null) drawAll(live, size, { cursorRow: null, columns: size.columns, isCut: false });
      else hold.live = live;
    },
    resized: holdFor,
    rest,
    reopen: (size) => sight.reopen(size),
    close() {
      rest();
      write(`${up(sight.live.cursorRow)}\r${ERASE_BELOW}${takePending().bytes}${CSI}?25h`);
      sight.clearLive();
    },
  };
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
  const drawn = live.rows.map(({ text }) => `${CSI}K${text}`).join('\r\n');
  return `${WRAP_OFF}${drawn}${WRAP_ON}${CSI}J${toCursor(live)}`;
}

function toCursor({ rows, cursorRow, cursorColumn }: LiveRows): string {
  return `${up(rows.length - 1 - cursorRow)}\r${right(cursorColumn)}`;
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
