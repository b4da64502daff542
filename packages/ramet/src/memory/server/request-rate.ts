/** How many requests a sender may make: some at once, then some each second. Counts by a clock that never jumps back. */
export class RequestRate {
  readonly #rate: number;
  readonly #burst: number;
  readonly #now: () => number;
  readonly #senders = new Map<string, { left: number; at: number }>();

  /** `now` in milliseconds. */
  constructor(rate: number, burst: number, now: () => number = () => performance.now()) {
    this.#rate = rate;
    this.#burst = burst;
    this.#now = now;
  }

  /** Seconds to wait; 0 if the request may pass. */
  take(sender: string): number {
    const now = this.#now();
    const state = this.#senders.get(sender) ?? this.#begin(sender, now);
    state.left = Math.min(this.#burst, state.left + ((now - state.at) * this.#rate) / 1000);
    state.at = now;
    if (state.left < 1) return Math.max(1, Math.ceil((1 - state.left) / this.#rate));
    state.left -= 1;
    return 0;
  }

  #begin(sender: string, at: number): { left: number; at: number } {
    // Those who have been silent for long have all their requests again: they need no entry.
    if (this.#senders.size >= MOST_SENDERS) {
      for (const [name, state] of this.#senders)
        if (((at - state.at) * this.#rate) / 1000 >= this.#burst) this.#senders.delete(name);
      const [oldest] = this.#senders.keys();
      if (this.#senders.size >= MOST_SENDERS && oldest !== undefined) this.#senders.delete(oldest);
    }
    const state = { left: this.#burst, at };
    this.#senders.set(sender, state);
    return state;
  }
}

const MOST_SENDERS = 10_000;
