/** When to try again, when to freeze a task, and when to stop the whole run (OP-5). Values in, values out. */

export interface TaskRetryPolicy {
  /** After this many failures more than the first try, the task is frozen for a person. */
  retries: number;
  firstDelayMs: number;
  longestDelayMs: number;
}

const DEFAULT_RETRY: TaskRetryPolicy = { retries: 2, firstDelayMs: 2_000, longestDelayMs: 60_000 };

export type AfterFailure = { next: 'retry'; delayMs: number } | { next: 'freeze' };

/** `failures` counts this one too. */
export function afterFailure(failures: number, policy: TaskRetryPolicy = DEFAULT_RETRY): AfterFailure {
  if (failures > policy.retries) return { next: 'freeze' };
  const delayMs = policy.firstDelayMs * 2 ** Math.min(failures - 1, 30);
  return { next: 'retry', delayMs: Math.min(delayMs, policy.longestDelayMs) };
}

export interface BreakerPolicy {
  /** How many of the latest ends count. */
  window: number;
  /** The run stops when this share of a full window has failed. */
  share: number;
  /** It also stops after this many failures in a row. */
  inARow: number;
}

const DEFAULT_BREAKER: BreakerPolicy = { window: 10, share: 0.5, inARow: 5 };

export interface Breaker {
  /** The latest ends, oldest first; true is a failure. */
  readonly ends: readonly boolean[];
  /** Why nothing more is launched; null while all is well. A tripped breaker stays tripped until a person resets it. */
  readonly tripped: string | null;
}

export const CLOSED_BREAKER: Breaker = { ends: [], tripped: null };

export function afterEnd(
  breaker: Breaker,
  failed: boolean,
  policy: BreakerPolicy = DEFAULT_BREAKER,
): Breaker {
  const ends = [...breaker.ends, failed].slice(-policy.window);
  return { ends, tripped: breaker.tripped ?? reasonToTrip(ends, policy) };
}

function reasonToTrip(ends: readonly boolean[], { window, share, inARow }: BreakerPolicy): string | null {
  const row = ends.length - 1 - ends.lastIndexOf(false);
  if (row >= inARow) return `${row} tasks in a row have failed`;
  const failures = ends.filter((failed) => failed).length;
  if (ends.length === window && failures >= window * share)
    return `${failures} of the last ${window} tasks have failed`;
  return null;
}
