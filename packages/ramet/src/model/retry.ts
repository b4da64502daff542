/**
 * The one retry policy (MODEL-2): bounded in number and in time, exponential with jitter, and a server's
 * `retry-after` comes first. A response is asked for again as a whole; nothing of a failed attempt is kept.
 */
import type { Clock } from '../schema/clock.ts';
import { Cancelled, ModelError } from '../schema/errors.ts';

export interface RetryPolicy {
  maxRetries: number;
  withinMs: number;
  baseMs: number;
  capMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = { maxRetries: 8, withinMs: 180_000, baseMs: 500, capMs: 8_000 };

export interface FailedAttempt {
  attempt: number;
  error: ModelError;
  /** Null when it is not tried again. */
  retryInMs: number | null;
}

export interface RetryContext {
  policy: RetryPolicy;
  clock: Clock;
  signal: AbortSignal;
  /** Called for every failure, also the last one, before waiting. */
  onFailure: (failure: FailedAttempt) => void | Promise<void>;
}

export async function withRetries<T>(
  action: (attempt: number) => Promise<T>,
  { policy, clock, signal, onFailure }: RetryContext,
): Promise<T> {
  const deadline = clock.now() + policy.withinMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await action(attempt);
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      const delay = retryDelay(error, attempt, policy);
      const retryInMs = delay !== null && clock.now() + delay <= deadline ? delay : null;
      await onFailure({ attempt, error, retryInMs });
      if (retryInMs === null) throw givenUp(error, attempt);
      await clock.sleep(retryInMs, signal);
      if (signal.aborted) throw new Cancelled();
    }
  }
}

function retryDelay(error: ModelError, attempt: number, policy: RetryPolicy): number | null {
  if (error.family !== 'retryable' || attempt > policy.maxRetries) return null;
  if (error.retryAfterMs !== undefined) return error.retryAfterMs;
  const delay = Math.min(policy.capMs, policy.baseMs * 2 ** (attempt - 1));
  return Math.round(delay * (0.75 + 0.25 * Math.random()));
}

/** The last error, saying how often it was tried. It stays in its family: a fallback may still help. */
function givenUp(error: ModelError, attempts: number): ModelError {
  if (error.family === 'terminal') return error;
  const asked =
    error.retryAfterMs === undefined ? '' : `; it asks for a pause of ${error.retryAfterMs / 1000} s`;
  const message = `${error.message} (gave up after ${attempts} attempt${attempts === 1 ? '' : 's'}${asked})`;
  return new ModelError(error.code, error.family, message, {
    status: error.status,
    retryAfterMs: error.retryAfterMs,
    usage: error.usage,
    cause: error,
  });
}
