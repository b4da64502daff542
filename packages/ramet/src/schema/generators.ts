/** Async generators: events while something runs, then its value. */

/** Passes every event on as it comes, and returns what the generator returns. */
export async function drain<Event, Value>(
  events: AsyncGenerator<Event, Value>,
  take: (event: Event) => void,
): Promise<Value> {
  for (let next = await events.next(); ; next = await events.next()) {
    if (next.done) return next.value;
    take(next.value);
  }
}

/** The same events with something done to each, and what the generator returns. */
export async function* mapped<Event, Mapped, Value>(
  events: AsyncGenerator<Event, Value>,
  map: (event: Event) => Mapped,
): AsyncGenerator<Mapped, Value> {
  for (let next = await events.next(); ; next = await events.next()) {
    if (next.done) return next.value;
    yield map(next.value);
  }
}

/** The same events without some, and what the generator returns. */
export async function* filtered<Event, Kept extends Event, Value>(
  events: AsyncGenerator<Event, Value>,
  keeps: (event: Event) => event is Kept,
): AsyncGenerator<Kept, Value> {
  for (let next = await events.next(); ; next = await events.next()) {
    if (next.done) return next.value;
    if (keeps(next.value)) yield next.value;
  }
}

/**
 * What work tells, for one reader: yields everything that it emits, in order, then returns its value or throws its
 * error. The work begins when the first event is asked for, and then runs whether or not anybody reads: a reader may
 * pause, or stay away. What it has not read waits for it without a bound, since a bound would hold up the work or lose
 * events. A reader that leaves while the work runs calls `abandon`, and has left when the work has ended.
 */
export async function* emitting<Event, Value>(
  work: (emit: (event: Event) => void) => Promise<Value>,
  abandon: () => void,
): AsyncGenerator<Event, Value> {
  let queue: Event[] = [];
  let isOver = false;
  let wake = (): void => {};
  const result = work((event) => {
    queue.push(event);
    wake();
  });
  const settle = (): void => {
    isOver = true;
    wake();
  };
  result.then(settle, settle);
  try {
    while (!isOver || queue.length > 0) {
      const events = queue;
      queue = [];
      // One by one: to delegate to an array costs an async generator twice as much.
      for (const event of events) yield event;
      if (!isOver && queue.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
    return await result;
  } finally {
    if (!isOver) {
      abandon();
      await result;
    }
  }
}
