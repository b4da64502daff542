/**
 * The screen in time: output is gathered into frames, a key is shown at once, a spinner turns during work. An answer
 * that is being written has its unfinished block among the live rows; what does not fit there is finished first.
 */
import { systemClock } from '../../../schema/clock.ts';
import { AnswerStream } from '../markdown/answer-stream.ts';
import { type Block, lineBlocks } from '../markdown/blocks.ts';
import type { Look } from '../markdown/look.ts';
import { isSameSize } from './in-sight.ts';
import { textColumns } from './kept-output.ts';
import { type LiveState, liveRows } from './live-rows.ts';
import {
  createScreen,
  ENTER_FULL_SCREEN,
  type FullScreen,
  fullFrame,
  LEAVE_FULL_SCREEN,
  type LiveRows,
  type Screen,
  type ScreenSize,
} from './screen.ts';
import type { TerminalDevice } from './terminal-device.ts';
import type { TextStyle } from './text-style.ts';

const FRAME_MS = 16;
/** Output that waits for a terminal that takes none is kept up to this many blocks. */
const MOST_BLOCKS_BEHIND = 20_000;
const SPINNER_MS = 100;
/** Rows of children have no spinner: nobody reads their figures faster. */
const ROWS_MS = 250;

/** Takes an answer as it arrives. */
export interface AnswerSink {
  answer(text: string): void;
  /** Everything that was written is finished. */
  endAnswer(): void;
  print(text: string): void;
}

export class TerminalView implements AnswerSink {
  readonly #device: TerminalDevice;
  readonly #style: TextStyle;
  readonly #state: () => LiveState;
  readonly #screen: Screen;
  readonly #stream: AnswerStream;
  #frame: NodeJS.Timeout | undefined;
  #spinner: NodeJS.Timeout | undefined;
  #everyMs = 0;
  /** The last frame of what has the whole screen. */
  #fullBytes = '';
  #isAnswering = false;
  #closed = false;
  #isLent = false;
  /** Blocks that wait for a terminal that takes none, and those that were too many. */
  #behind = 0;
  #leftOut = 0;
  /** What has the whole screen. */
  #full: FullScreen | null = null;
  /** The size was another one at some time while that was so. */
  #isResizedBehind = false;

  /** `state` is asked for what to show below the output, once a frame. */
  constructor(device: TerminalDevice, style: TextStyle, look: Look, state: () => LiveState) {
    this.#device = device;
    this.#style = style;
    this.#state = state;
    this.#screen = createScreen(
      (bytes) => device.write(bytes),
      device,
      systemClock,
      () => device.ask(),
    );
    this.#stream = new AnswerStream(look);
  }

  get columns(): number {
    return textColumns(this.#device.columns);
  }

  get rows(): number {
    return this.#device.rows;
  }

  /** Whole lines. */
  print(text: string): void {
    if (text === '' || this.#closed) return;
    this.#add(lineBlocks(text));
    this.soon();
  }

  /** Blocks that are finished. */
  append(blocks: readonly Block[]): void {
    if (this.#closed) return;
    this.#add(blocks);
    this.soon();
  }

  answer(text: string): void {
    if (text === '' || this.#closed) return;
    // A blank line between the answer and what stood before it.
    if (!this.#isAnswering) this.#screen.append(lineBlocks('\n'));
    this.#isAnswering = true;
    this.#add(this.#stream.push(text));
    this.soon();
  }

  endAnswer(): void {
    if (!this.#isAnswering || this.#closed) return;
    this.#isAnswering = false;
    this.#add(this.#stream.end());
    this.soon();
  }

  /** Draws with the next frame. */
  soon(): void {
    this.#frame ??= setTimeout(() => this.now(), FRAME_MS);
  }

  now(): void {
    this.#frameDone();
    if (this.#closed || this.#isLent) return;
    if (this.#device.isBehind) {
      this.soon();
      return;
    }
    this.#sayLeftOut();
    if (this.#full === null) this.#screen.draw(this.#live());
    else this.#drawFull(this.#full);
  }

  /** The whole screen is for this, above the live rows; with null what was there comes back, and what was printed since. */
  fill(shown: FullScreen | null): void {
    if (this.#closed) return;
    const hadFull = this.#full !== null;
    this.#full = shown;
    this.#fullBytes = '';
    if (shown !== null) {
      this.#screen.rest();
      if (!hadFull && !this.#isLent) this.#device.write(ENTER_FULL_SCREEN);
      this.now();
    } else if (hadFull) {
      if (!this.#isLent) this.#device.write(LEAVE_FULL_SCREEN);
      if (this.#isResizedBehind || !isSameSize(this.#screen.size, this.#size)) this.resized();
      else this.now();
    }
  }

  /**
   * Redraws as time passes: a turn has a spinner and a clock, children alone have rows. What children do shows with that: it is
   * drawn no more often, however many there are.
   */
  busy(working: 'turn' | 'children' | null): void {
    const everyMs = working === null ? 0 : working === 'turn' ? SPINNER_MS : ROWS_MS;
    if (everyMs === this.#everyMs || this.#closed) return;
    clearInterval(this.#spinner);
    this.#everyMs = everyMs;
    this.#spinner = everyMs === 0 ? undefined : setInterval(() => this.now(), everyMs);
    this.soon();
  }

  /** Draws again all that is in sight. */
  redraw(): void {
    this.#frameDone();
    this.#fullBytes = '';
    if (this.#full !== null) this.now();
    else if (!this.#closed && !this.#isLent) this.#screen.redraw(this.#live());
  }

  /** The terminal has told its size. */
  resized(): void {
    this.#isResizedBehind = this.#full !== null;
    if (this.#isResizedBehind) this.redraw();
    else if (!this.#closed && !this.#isLent) this.#screen.resized(this.#live(), this.#size);
  }

  /** Another program has the screen until `work` ends; what is printed meanwhile is shown after it. */
  async lend(work: () => Promise<void>): Promise<void> {
    if (this.#closed || this.#isLent) return;
    if (this.#full !== null) this.#device.write(LEAVE_FULL_SCREEN);
    this.#screen.close();
    this.#isLent = true;
    try {
      await this.#device.lend(work);
    } finally {
      this.#isLent = false;
      this.#fullBytes = '';
      this.#screen.reopen(this.#size);
      if (this.#full !== null) this.#device.write(ENTER_FULL_SCREEN);
      this.now();
    }
  }

  /** Removes the live rows; what was printed stays. */
  close(): void {
    if (this.#closed) return;
    this.fill(null);
    this.endAnswer();
    this.#closed = true;
    this.#frameDone();
    clearInterval(this.#spinner);
    this.#screen.close();
  }

  #add(blocks: readonly Block[]): void {
    if (!this.#device.isBehind) this.#behind = 0;
    else if (this.#behind > MOST_BLOCKS_BEHIND) {
      this.#leftOut += blocks.length;
      return;
    } else this.#behind += blocks.length;
    this.#screen.append(blocks);
  }

  /** The journal has what a terminal that did not read never showed. */
  #sayLeftOut(): void {
    if (this.#leftOut === 0) return;
    const line = `(${this.#leftOut} parts of the output are left out: the terminal took none; ramet show has them)`;
    this.#leftOut = 0;
    this.#screen.append(lineBlocks(`${this.#style.yellow(line)}\n`));
  }

  #drawFull(shown: FullScreen): void {
    const bytes = fullFrame(shown, this.#below(), this.#size);
    if (bytes !== this.#fullBytes) this.#device.write(bytes);
    this.#fullBytes = bytes;
  }

  #frameDone(): void {
    clearTimeout(this.#frame);
    this.#frame = undefined;
  }

  get #size(): ScreenSize {
    const { columns, rows } = this.#device;
    return { columns, rows };
  }

  #below(): LiveRows {
    return liveRows(this.#state(), this.#size, this.#style);
  }

  #live(): LiveRows {
    const below = this.#below();
    const room = this.#size.rows - 1 - below.rows.length;
    this.#screen.append(this.#stream.release(this.columns, room));
    const written = room > 0 ? this.#stream.rows(this.columns).slice(-room) : [];
    return { ...below, rows: [...written, ...below.rows], cursorRow: below.cursorRow + written.length };
  }
}
