/** Hands every event on as it comes, and returns what the generator returns. */
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
