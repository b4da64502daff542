/** The screen in time: output is gathered into frames, a key is shown at once, a spinner turns during work. */
import { type LiveState, liveRows } from './live-rows.ts';
import { createScreen, type Screen } from './screen.ts';
import type { TerminalDevice } from './terminal-device.ts';
import type { TextStyle } from './text-style.ts';

const FRAME_MS = 16;
const SPINNER_MS = 100;

export class TerminalView {
  readonly #device: TerminalDevice;
  readonly #style: TextStyle;
  readonly #state: () => LiveState;
  readonly #screen: Screen;
  #frame: NodeJS.Timeout | undefined;
  #spinner: NodeJS.Timeout | undefined;
  #closed = false;

  /** `state` is asked for what to show below the output, once a frame. */
  constructor(device: TerminalDevice, style: TextStyle, state: () => LiveState) {
    this.#device = device;
    this.#style = style;
    this.#state = state;
    this.#screen = createScreen((bytes) => device.write(bytes), device.columns);
  }

  get columns(): number {
    return this.#device.columns;
  }

  print(text: string): void {
    if (text === '' || this.#closed) return;
    this.#screen.append(text);
    this.soon();
  }

  /** Draws with the next frame. */
  soon(): void {
    this.#frame ??= setTimeout(() => this.now(), FRAME_MS);
  }

  now(): void {
    clearTimeout(this.#frame);
    this.#frame = undefined;
    if (!this.#closed) this.#screen.draw(liveRows(this.#state(), this.#device, this.#style));
  }

  /** Redraws as time passes. What children do shows with that: it is drawn no more often, however many there are. */
  busy(working: boolean): void {
    if (working === (this.#spinner !== undefined) || this.#closed) return;
    clearInterval(this.#spinner);
    this.#spinner = working ? setInterval(() => this.now(), SPINNER_MS) : undefined;
    this.soon();
  }

  resized(): void {
    this.#screen.resized(this.#device.columns);
    this.now();
  }

  /** Begins on an empty screen; what scrolled away stays in the scrollback. */
  clear(): void {
    this.#screen.clear();
    this.now();
  }

  /** Removes the live rows; what was printed stays. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#frame);
    clearInterval(this.#spinner);
    this.#screen.close();
  }
}
