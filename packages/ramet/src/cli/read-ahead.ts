/** Reads a stream while its reader is at work with what came before: what cannot wait is taken at once. */

/** Held for the reader; then reading waits for it. */
const MOST_WAITING = 1_000;

/** In order, without what `takes` has taken. It reads from now on; ends with the source, and at once when the signal aborts. */
export function readAhead<Item>(
  source: AsyncIterable<Item>,
  takes: (item: Item) => boolean,
  signal: AbortSignal,
): AsyncGenerator<Item, void> {
  const waiting: Item[] = [];
  let isOver = false;
  let failure: { readonly error: unknown } | null = null;
  let changed = Promise.withResolvers<void>();
  const tell = (): void => {
    changed.resolve();
    changed = Promise.withResolvers<void>();
  };
  const pump = async (): Promise<void> => {
    try {
      for await (const item of source) {
        if (isOver) return;
        if (takes(item)) continue;
        waiting.push(item);
        tell();
        while (waiting.length >= MOST_WAITING && !isOver) await changed.promise;
      }
    } catch (error) {
      failure = { error };
    } finally {
      isOver = true;
      tell();
    }
  };
  const end = (): void => {
    isOver = true;
    tell();
  };
  signal.addEventListener('abort', end, { once: true });
  void pump();
  return (async function* () {
    try {
      for (;;) {
        if (signal.aborted) return;
        const next = waiting.shift();
        if (next !== undefined) {
          tell();
          yield next;
        } else if (isOver) break;
        else await changed.promise;
      }
      if (failure !== null) throw Object(failure).error;
    } finally {
      signal.removeEventListener('abort', end);
      end();
    }
  })();
}
