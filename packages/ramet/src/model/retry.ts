/**
 * The one retry policy (MODEL-2): bounded in number and in time, exponential with jitter, and a server's
 * `retry-after` comes first. A response is asked for again as a whole; nothing of a failed attempt is kept.
 *
 * A 429 is no failure but a place in a queue (LAUNCH-2, docs/decisions/008-one-rate-window.md): it is waited for in the
 * rate window, as long as anybody gets through, and has bounds of its own. A long pause that the provider names has none:
 * a usage limit ends when it ends.
 */
import { type Clock, sleepThrough } from '../schema/clock.ts';
import { Cancelled, ModelError } from '../schema/errors.ts';
import { asksToWait, isRateLimit } from './rate-limit.ts';
import { LONG_PAUSE_MS } from './rate-pause.ts';

export interface RetryPolicy {
  maxRetries: number;
  withinMs: number;
  baseMs: number;
  capMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = { maxRetries: 8, withinMs: 180_000, baseMs: 500, capMs: 8_000 };

/** How long a run without a person waits for a provider that is away. */
export const DEFAULT_OUTAGE_SECONDS = 1_800;

/** How many times as many 429s as failures one request may meet. */
const REFUSALS_PER_RETRY = 4;

export interface FailedAttempt {
  attempt: number;
  error: ModelError;
  /** Null when it is not tried again. */
  retryInMs: number | null;
}

/** What the rate window knows of a request; `RateRequest` is one. */
export interface RetryLimits {
  readonly waitedMs: number;
  readonly succeededAt: number | null;
  /** How long a pause it bears. */
  readonly patienceMs: number;
  pausedMs(): number;
}

export interface RetryContext {
  policy: RetryPolicy;
  clock: Clock;
  signal: AbortSignal;
  /** Called for every failure, also the last one, before waiting. */
  onFailure: (failure: FailedAttempt) => void | Promise<void>;
  /** Without it a 429 is a failure like any other. */
  limits?: RetryLimits | undefined;
}

export async function withRetries<T>(
  action: (attempt: number) => Promise<T>,
  context: RetryContext,
): Promise<T> {
  const { clock, signal, onFailure } = context;
  const patience = new Patience(context);
  for (let attempt = 1; ; attempt++) {
    try {
      return await action(attempt);
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      const { retryInMs, sleepMs } = patience.after(error);
      // What it met may be why it is to end: then nothing is tried again.
      await onFailure({ attempt, error, retryInMs: signal.aborted ? null : retryInMs });
      if (signal.aborted) throw new Cancelled();
      if (retryInMs === null) throw givenUp(error, attempt);
      if (sleepMs > 0) await sleepThrough(clock, sleepMs, signal);
      if (signal.aborted) throw new Cancelled();
    }
  }
}

interface NextAttempt {
  retryInMs: number | null;
  /** What is left to wait after the window's own pause. */
  sleepMs: number;
}

const GIVE_UP: NextAttempt = { retryInMs: null, sleepMs: 0 };

/** What one request has met so far. */
class Patience {
  readonly #context: RetryContext;
  readonly #startedAt: number;
  #failures = 0;
  #refusals = 0;
  #refusedAt: number | null = null;

  constructor(context: RetryContext) {
    this.#context = context;
    this.#startedAt = context.clock.now();
  }

  after(error: ModelError): NextAttempt {
    if (error.family !== 'retryable') return GIVE_UP;
    const { limits } = this.#context;
    if (limits === undefined) return this.#afterFailure(error);
    const delay = Math.max(limits.pausedMs(), error.retryAfterMs ?? 0);
    if (asksToWait(error) && delay >= LONG_PAUSE_MS) return this.#afterLongPause(delay, limits);
    return isRateLimit(error) ? this.#afterRefusal(error, limits) : this.#afterFailure(error);
  }

  /** The window holds the request back until then. What it has met before counts no more. */
  #afterLongPause(delay: number, limits: RetryLimits): NextAttempt {
    if (delay > limits.patienceMs) return GIVE_UP;
    this.#refusals = 0;
    this.#refusedAt = null;
    return { retryInMs: delay, sleepMs: delay - limits.pausedMs() };
  }

  #afterFailure({ retryAfterMs }: ModelError): NextAttempt {
    const { policy, limits } = this.#context;
    this.#failures += 1;
    if (this.#failures > policy.maxRetries) return GIVE_UP;
    const delay = retryAfterMs ?? backoff(this.#failures, policy);
    return this.#within(this.#startedAt + (limits?.waitedMs ?? 0), delay, delay);
  }

  /** Time counts from the first 429, and again from every success of anybody with the same limit. */
  #afterRefusal({ retryAfterMs }: ModelError, limits: RetryLimits): NextAttempt {
    const { policy, clock } = this.#context;
    this.#refusedAt ??= clock.now();
    this.#refusals += 1;
    if (this.#refusals > policy.maxRetries * REFUSALS_PER_RETRY) return GIVE_UP;
    const paused = limits.pausedMs();
    const delay = retryAfterMs ?? paused;
    return this.#within(Math.max(this.#refusedAt, limits.succeededAt ?? 0), delay, delay - paused);
  }

  #within(since: number, delay: number, sleepMs: number): NextAttempt {
    const { policy, clock } = this.#context;
    return clock.now() + delay <= since + policy.withinMs ? { retryInMs: delay, sleepMs } : GIVE_UP;
  }
}

function backoff(failures: number, { baseMs, capMs }: RetryPolicy): number {
  return Math.round(Math.min(capMs, baseMs * 2 ** (failures - 1)) * (0.75 + 0.25 * Math.random()));
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
