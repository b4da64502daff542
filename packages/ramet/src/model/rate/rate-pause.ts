/**
 * Until when nobody may send to one model, and who goes first afterwards. Pure: time comes in as an argument.
 *
 * Invariants
 * 1. A pause that this process was asked for only grows, until something succeeds.
 * 2. After a long pause one request looks whether it is over; the others follow when that one is answered.
 * 3. A long pause that another process was asked for is checked by one request of this one: it may be another account's,
 *    or the account may have been given more since.
 */

/** Limits per minute are over within one: who asks for more means a usage limit, or is down. */
export const LONG_PAUSE_MS = 60_000;

export class RatePause {
  #until = 0;
  #isHearsay = false;
  #lastHearsay = 0;
  #oneLooksFirst = false;
  #longSince: number | null = null;

  get until(): number {
    return this.#until;
  }

  /** Since when there was one long pause after the other, with no success between; null when there was none. */
  get longSince(): number | null {
    return this.#longSince;
  }

  leftMs(now: number): number {
    return Math.max(0, this.#until - now);
  }

  /** Whether one more may send beside those under way. */
  admits(underWay: number, now: number): boolean {
    if (this.#until > now) return this.#isHearsay && underWay === 0;
    return !this.#oneLooksFirst || underWay === 0;
  }

  /** A provider has asked this process for it, or it is taken because one would have to. */
  set(until: number): void {
    if (this.#isHearsay || until > this.#until) this.#until = until;
    this.#isHearsay = false;
  }

  /** The same by a refusal that says how long. */
  setByRefusal(until: number, now: number): void {
    this.set(until);
    if (until - now < LONG_PAUSE_MS) return;
    this.#oneLooksFirst = true;
    this.#longSince ??= now;
  }

  /** Another process was asked for it. True when one request is to check it. */
  hear(until: number, now: number): boolean {
    if (until <= this.#until || until <= this.#lastHearsay) return false;
    const isLong = until - now >= LONG_PAUSE_MS;
    // At the end of a pause of its own it looks for itself.
    if (isLong && this.#until > now && !this.#isHearsay) return false;
    this.#lastHearsay = until;
    this.#until = until;
    if (isLong) this.#isHearsay = true;
    return isLong;
  }

  /** A request that began after the last refusal was answered. */
  succeeded(now: number): void {
    if (this.#isHearsay) this.#until = Math.min(this.#until, now);
    this.#isHearsay = false;
    this.#oneLooksFirst = false;
    this.#longSince = null;
  }
}
