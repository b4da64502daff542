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

/**
 * Runs work that reports through a callback as an async generator: yields what it emits while it runs, then
 * returns its value or throws its error. Nothing emitted is lost, and nothing runs after the generator ended.
 */
export async function* emitting<Event, Value>(
  work: (emit: (event: Event) => void) => Promise<Value>,
): AsyncGenerator<Event, Value> {
  let queue: Event[] = [];
  let settled = false;
  let wake = (): void => {};
  const result = work((event) => {
    queue.push(event);
    wake();
  });
  const settle = (): void => {
    settled = true;
    wake();
  };
  result.then(settle, settle);
  while (!settled || queue.length > 0) {
    const events = queue;
    queue = [];
    yield* events;
    if (!settled && queue.length === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  return result;
}
