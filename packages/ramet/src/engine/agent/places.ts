/**
 * Places for agents at work (LAUNCH-3): as many as may run at once. Whoever finds none waits, in order; an agent that
 * waits for its children gives its place up, so a tree deeper than there are places cannot lock itself up.
 *
 * Invariants
 * 1. At most `limit` places are taken, and none is free while somebody waits.
 * 2. First come, first served; one who comes back for a place given up goes before those who never had one.
 */
interface PlaceWaiter {
  admit: () => void;
}

export class Places {
  readonly limit: number;
  #taken = 0;
  readonly #returning = new Set<PlaceWaiter>();
  readonly #waiting = new Set<PlaceWaiter>();

  constructor(limit: number) {
    this.limit = limit;
  }

  get waiting(): number {
    return this.#waiting.size + this.#returning.size;
  }

  /** True when a place was free and is now the caller's. */
  tryTake(): boolean {
    if (this.#taken >= this.limit || this.waiting > 0) return false;
    this.#taken += 1;
    return true;
  }

  /** Resolves with true once the caller has a place, with false when `signal` aborted first. */
  async take(signal: AbortSignal, returning = false): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.tryTake()) return true;
    const line = returning ? this.#returning : this.#waiting;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter: PlaceWaiter = { admit: () => resolve(true) };
    const leave = (): void => {
      if (line.delete(waiter)) resolve(false);
    };
    line.add(waiter);
    signal.addEventListener('abort', leave, { once: true });
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  /** Gives a place back: the next in line has it at once. */
  release(): void {
    for (const line of [this.#returning, this.#waiting]) {
      for (const waiter of line) {
        line.delete(waiter);
        waiter.admit();
        return;
      }
    }
    this.#taken -= 1;
  }
}

/** One agent's hold on a place, given up while it waits for others: calls side by side give it up once. */
export class HeldPlace {
  readonly #places: Places;
  readonly #onWait: (waits: boolean) => void;
  /** The main agent has none, and needs none. */
  #held: boolean;
  readonly #needed: boolean;
  #pauses = 0;
  #toldToWait = false;

  /** `onWait` is told when the agent begins to wait and when it goes on: once it has its place again. */
  constructor(places: Places, held: boolean, onWait: (waits: boolean) => void) {
    this.#places = places;
    this.#held = held;
    this.#needed = held;
    this.#onWait = onWait;
  }

  async whileWaiting<Value>(signal: AbortSignal, wait: () => Promise<Value>): Promise<Value> {
    this.#pauses += 1;
    if (this.#pauses === 1) {
      if (!this.#toldToWait) this.#onWait(true);
      this.#toldToWait = true;
      this.release();
    }
    try {
      return await wait();
    } finally {
      this.#pauses -= 1;
      if (this.#pauses === 0) await this.#comeBack(signal);
    }
  }

  /** For good, when the agent ends. */
  release(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#places.release();
  }

  /** An aborted agent goes on without a place: it has only its end left to do. */
  async #comeBack(signal: AbortSignal): Promise<void> {
    if (this.#needed && (await this.#places.take(signal, true))) {
      // Another call of the same message may have begun to wait, or have come back first.
      if (this.#held || this.#pauses > 0) this.#places.release();
      else this.#held = true;
    }
    if (this.#pauses > 0 || !this.#toldToWait) return;
    this.#toldToWait = false;
    this.#onWait(false);
  }
}
