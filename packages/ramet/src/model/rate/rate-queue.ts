/** Who waits for a place in a rate window, in order of arrival whenever they join. */
import type { RateWaitCause } from './rate-request.ts';

export interface RateWaiter {
  /** Numbers of arrival: unique, the lowest goes first. */
  readonly place: number;
  grant(): void;
  /** Nobody goes before that time, or before the provider is back: told again when it changes. */
  told(until: number | null, cause: RateWaitCause): void;
}

export class RateQueue {
  readonly #waiters: RateWaiter[] = [];

  get size(): number {
    return this.#waiters.length;
  }

  get first(): RateWaiter | undefined {
    return this.#waiters[0];
  }

  get firstPlace(): number {
    return this.#waiters[0]?.place ?? Number.POSITIVE_INFINITY;
  }

  /** As they stand now: whoever is told something may leave. */
  get waiters(): readonly RateWaiter[] {
    return [...this.#waiters];
  }

  add(waiter: RateWaiter): void {
    this.#waiters.splice(this.#indexOf(waiter.place), 0, waiter);
  }

  remove(waiter: RateWaiter): void {
    const index = this.#indexOf(waiter.place);
    if (this.#waiters[index] === waiter) this.#waiters.splice(index, 1);
  }

  /** Where the place is, or would be. */
  #indexOf(place: number): number {
    let low = 0;
    let high = this.#waiters.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#waiters[middle]?.place ?? 0) < place) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
