/**
 * When to look at a record again after something happened: its event arrives before it is on disk, by how much depends on the
 * disk. So it looks soon, and then less and less often, until the next event or for some seconds.
 */
import { type Clock, systemClock } from '../../../schema/clock.ts';

/** Milliseconds after the event, and after each look. A screen reads the journal no more often than the first. */
const PAUSES_MS: readonly number[] = [100, 150, 250, 500, 1_000, 2_000, 4_000];

export class LaterLooks implements Disposable {
  readonly #look: () => void;
  readonly #clock: Clock;
  #waiting = new AbortController();

  constructor(look: () => void, clock: Clock = systemClock) {
    this.#look = look;
    this.#clock = clock;
  }

  /** Something happened: what was still to come of earlier looks comes after this instead. */
  begin(): void {
    this.#waiting.abort();
    this.#waiting = new AbortController();
    void this.#run(this.#waiting.signal);
  }

  /** No look comes any more. */
  [Symbol.dispose](): void {
    this.#waiting.abort();
  }

  async #run(signal: AbortSignal): Promise<void> {
    for (const pause of PAUSES_MS) {
      await this.#clock.sleep(pause, signal, { keepsAlive: false });
      if (signal.aborted) return;
      this.#look();
    }
  }
}
