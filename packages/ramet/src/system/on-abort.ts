/**
 * Callbacks on a signal, all behind one listener. A signal looks at every listener it has whenever one comes, so that
 * thousands of siblings on their parent's signal would cost the square of their number.
 *
 * Invariant: a signal that nobody waits on has no listener of ours.
 */
interface AbortWaiters {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

const waitersOf = new WeakMap<AbortSignal, AbortWaiters>();

/** Calls back when `signal` aborts, at once when it has. Returns the unsubscribe function. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback();
    return () => {};
  }
  const { callbacks, listener } = waitersOf.get(signal) ?? listen(signal);
  // Told apart from the same function given twice.
  const own = (): void => callback();
  callbacks.add(own);
  return () => {
    if (!callbacks.delete(own) || callbacks.size > 0) return;
    signal.removeEventListener('abort', listener);
    waitersOf.delete(signal);
  };
}

function listen(signal: AbortSignal): AbortWaiters {
  const callbacks = new Set<() => void>();
  const listener = (): void => {
    for (const callback of callbacks) callback();
  };
  const waiters = { callbacks, listener };
  waitersOf.set(signal, waiters);
  signal.addEventListener('abort', listener, { once: true });
  return waiters;
}
