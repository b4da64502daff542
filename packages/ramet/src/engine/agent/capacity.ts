/**
 * How many agents may run at once (LAUNCH-3). The others wait, in order. An agent that waits for its children does not
 * count, so a tree deeper than the limit cannot block itself.
 *
 * Invariants
 * 1. At most `limit` agents run, and nothing is free while an agent waits.
 * 2. First come, first served; an agent that comes back goes before those that never ran.
 */
interface CapacityWaiter {
  admit: () => void;
}

export class Capacity {
  readonly limit: number;
  #taken = 0;
  readonly #returning = new Set<CapacityWaiter>();
  readonly #waiting = new Set<CapacityWaiter>();

  constructor(limit: number) {
    this.limit = limit;
  }

  get waiting(): number {
    return this.#waiting.size + this.#returning.size;
  }

  /** Whether one more could begin at once. */
  get isFree(): boolean {
    return this.#taken < this.limit && this.waiting === 0;
  }

  /** True when there was capacity; the caller counts from now on. */
  tryTake(): boolean {
    if (!this.isFree) return false;
    this.#taken += 1;
    return true;
  }

  /** Resolves with true once the caller counts, with false when `signal` aborted first. */
  async take(signal: AbortSignal, returning = false): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.tryTake()) return true;
    const line = returning ? this.#returning : this.#waiting;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter: CapacityWaiter = { admit: () => resolve(true) };
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

  /** The caller no longer counts: the next in line begins at once. */
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

/** One agent's share, given up while it waits for others: parallel calls give it up once. */
export class HeldCapacity {
  readonly #capacity: Capacity;
  readonly #onWait: (waits: boolean) => void;
  /** The main agent has no share, and needs none. */
  #held: boolean;
  readonly #needed: boolean;
  #pauses = 0;
  #toldToWait = false;

  /** `onWait` is called when the agent begins to wait and when it continues: once it has its share again. */
  constructor(capacity: Capacity, held: boolean, onWait: (waits: boolean) => void) {
    this.#capacity = capacity;
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
    this.#capacity.release();
  }

  /** An aborted agent continues without a share: it has only its end left to do. */
  async #comeBack(signal: AbortSignal): Promise<void> {
    if (this.#needed && (await this.#capacity.take(signal, true))) {
      // Another call of the same message may have begun to wait, or have come back first.
      if (this.#held || this.#pauses > 0) this.#capacity.release();
      else this.#held = true;
    }
    if (this.#pauses > 0 || !this.#toldToWait) return;
    this.#toldToWait = false;
    this.#onWait(false);
  }
}
