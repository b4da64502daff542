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
