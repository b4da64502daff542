/**
 * Ends a run when its time is up, also in the middle of a request or a tool (RES-2). Looked at between turns alone, the
 * limit would not hold where it is needed most: with a model that never answers, or a command that never ends.
 */
import type { Clock } from '../../schema/clock.ts';

/** Why a signal is aborted whose time is up; children that somebody waits for see the same reason. */
export const OUT_OF_TIME = 'out_of_time';

export interface Deadline extends Disposable {
  /** Aborts with the signal it was made of, or when the time is up. */
  readonly signal: AbortSignal;
}

export function startDeadline(clock: Clock, seconds: number | undefined, signal: AbortSignal): Deadline {
  if (seconds === undefined) return { signal, [Symbol.dispose]() {} };
  const controller = new AbortController();
  const over = new AbortController();
  const pass = (): void => controller.abort(signal.reason);
  if (signal.aborted) pass();
  signal.addEventListener('abort', pass, { once: true });
  void clock.sleep(seconds * 1_000, over.signal, { keepsAlive: false }).then(() => {
    if (!over.signal.aborted) controller.abort(OUT_OF_TIME);
  });
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      signal.removeEventListener('abort', pass);
      over.abort();
    },
  };
}
