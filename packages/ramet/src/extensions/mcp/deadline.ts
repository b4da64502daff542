/** Work with a time limit that starts again at every sign of life, and stands still while a person is asked. */
import type { Clock } from '../../schema/clock.ts';
import { onAbort } from '../../system/on-abort.ts';

interface DeadlineTerms {
  readonly clock: Clock;
  readonly limitMs: number;
  readonly signal: AbortSignal;
  isPaused(): boolean;
}

export type DeadlineOutcome<Value> =
  | { readonly kind: 'done'; readonly value: Value }
  | { readonly kind: 'late' }
  | { readonly kind: 'failed'; readonly error: unknown };

/** `late` comes at the latest after twice the limit without a sign of life. The work's signal is aborted then. */
export async function withDeadline<Value>(
  { clock, limitMs, signal, isPaused }: DeadlineTerms,
  work: (signal: AbortSignal, touch: () => void) => Promise<Value>,
): Promise<DeadlineOutcome<Value>> {
  const own = new AbortController();
  const over = new AbortController();
  const unlink = onAbort(signal, () => own.abort(signal.reason));
  let signs = 0;
  const touch = (): void => {
    signs += 1;
  };
  const late = async (): Promise<DeadlineOutcome<Value>> => {
    for (let seen = -1; !over.signal.aborted; ) {
      if (seen === signs && !isPaused()) return { kind: 'late' };
      // After a pause the time begins again.
      seen = isPaused() ? -1 : signs;
      await clock.sleep(limitMs, over.signal);
    }
    return { kind: 'late' };
  };
  const done = async (): Promise<DeadlineOutcome<Value>> => {
    try {
      return { kind: 'done', value: await work(own.signal, touch) };
    } catch (error) {
      return { kind: 'failed', error };
    }
  };
  const interrupted = new Promise<DeadlineOutcome<Value>>((resolve) => {
    own.signal.addEventListener('abort', () => resolve({ kind: 'failed', error: own.signal.reason }), {
      once: true,
    });
  });
  try {
    return await Promise.race([done(), late(), interrupted]);
  } finally {
    unlink();
    over.abort();
    own.abort();
  }
}
