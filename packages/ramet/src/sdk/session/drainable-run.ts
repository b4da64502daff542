/**
 * A run that advances as its events are taken, and that another caller can drain. The caller that stops a session may
 * itself hold the last event, and would wait for itself. Nothing is lost: the taker gets the rest in order.
 */
export class DrainableRun<Event, Result> {
  readonly #source: AsyncGenerator<Event, Result>;
  readonly #ahead: IteratorResult<Event, Result>[] = [];
  #drained: Promise<void> | null = null;

  constructor(source: AsyncGenerator<Event, Result>) {
    this.#source = source;
  }

  async *events(): AsyncGenerator<Event, Result> {
    let isOver = false;
    try {
      for (;;) {
        const next = await this.#next();
        isOver = next.done === true;
        if (next.done) return next.value;
        yield next.value;
      }
    } finally {
      if (!isOver) await this.#source.return(undefined as Result); // nobody looks at it
    }
  }

  /** Rejects, as taking its events does then, when the run throws. */
  drain(): Promise<void> {
    this.#drained ??= this.#takeAll();
    return this.#drained;
  }

  async #takeAll(): Promise<void> {
    for (;;) {
      const step = await this.#source.next();
      this.#ahead.push(step);
      if (step.done) return;
    }
  }

  async #next(): Promise<IteratorResult<Event, Result>> {
    // At once, so that the source is asked in the order in which its events were wanted.
    if (this.#drained === null) return this.#source.next();
    await this.#drained;
    return this.#ahead.shift() ?? this.#source.next();
  }
}
