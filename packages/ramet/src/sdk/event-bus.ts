/** Joins what the main agent does with what its children do, in the order in which it happens. */
export class EventBus<Event> {
  readonly #listeners = new Set<(event: Event) => void>();

  publish(event: Event): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Returns the way out. */
  subscribe(listener: (event: Event) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Yields the events of `main` and, while it runs, those that are published. `main` goes on only as its own events
   * are taken. Whoever stops taking them calls `abandon`, since `main` may be waiting for others just then.
   */
  async *during<Value>(
    main: AsyncGenerator<Event, Value>,
    abandon: () => void,
  ): AsyncGenerator<Event, Value> {
    const queue: Event[] = [];
    let wake = (): void => {};
    const leave = this.subscribe((event) => {
      queue.push(event);
      wake();
    });
    let over = false;
    try {
      for (;;) {
        let step: IteratorResult<Event, Value> | null = null;
        const next = main.next().then((result) => {
          step = result;
          wake();
        });
        while (step === null) {
          yield* queue.splice(0);
          if (step === null && queue.length === 0) {
            const woken = new Promise<void>((resolve) => {
              wake = resolve;
            });
            await Promise.race([woken, next]);
          }
        }
        yield* queue.splice(0);
        const { done, value } = step as IteratorResult<Event, Value>; // set by the callback above
        if (done) {
          over = true;
          return value;
        }
        yield value;
      }
    } finally {
      leave();
      if (!over) {
        abandon();
        await main.return(undefined as Value); // nobody looks at it
      }
    }
  }
}
