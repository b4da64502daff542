/**
 * The one retry policy (MODEL-2): bounded in number and in time, exponential with jitter, and a server's
 * `retry-after` comes first. A response is asked for again as a whole; nothing of a failed attempt is kept.
 *
 * A 429 is no failure but a place in a queue (LAUNCH-2, docs/decisions/008-one-rate-window.md): it is waited for in the
 * rate window, as long as anybody gets through, and has bounds of its own. A long pause that the provider names has
 * none but the user's: a usage limit ends when it ends. So does an outage. What a provider that has answered before
 * lets nobody do for longer than the run may wait interrupts the run and fails nobody.
 */
import { type Clock, sleepThrough } from '../../schema/clock.ts';
import {
  Cancelled,
  type InterruptionCause,
  ModelError,
  ProviderAway,
  UserMistake,
} from '../../schema/errors.ts';
import { spanText } from '../../schema/until-text.ts';
import type { EndpointHealth } from './endpoint-health.ts';
import { asksToWait, isRateLimit } from './rate-bucket.ts';
import { LONG_PAUSE_MS, STOOD_STILL_MS } from './rate-outage.ts';

export interface RetryPolicy {
  maxRetries: number;
  withinMs: number;
  baseMs: number;
  capMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = { maxRetries: 8, withinMs: 180_000, baseMs: 500, capMs: 8_000 };

export function retryFromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Partial<RetryPolicy> {
  const text = env.RAMET_MAX_RETRIES;
  if (text === undefined || text === '') return {};
  if (/^\d+$/.test(text)) return { maxRetries: Number(text) };
  throw new UserMistake('bad_retries', `RAMET_MAX_RETRIES is not a whole number: ${text}`);
}

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
  /** Since when the provider is away; null when it is not. */
  readonly awaySince: number | null;
  /** How much time asleep is left out of that, and was of earlier outages. */
  readonly asleepMs: number;
  /** How long until the next check whether it is back. */
  awayMs(): number;
}

export interface RetryContext {
  policy: RetryPolicy;
  clock: Clock;
  signal: AbortSignal;
  /** Called for every failure, also the last one, before waiting. */
  onFailure: (failure: FailedAttempt) => void | Promise<void>;
  /** Without it a 429 is a failure like any other. */
  limits?: RetryLimits | undefined;
  /** What is known of the provider; without it, and where another model can take over, an outage is a failure. */
  health?:
    | (Pick<EndpointHealth, 'verdict' | 'patienceMs' | 'tooLong'> &
        Partial<Pick<EndpointHealth, 'hasAnswered' | 'limitMs'>>)
    | undefined;
}

export async function withRetries<T>(
  action: (attempt: number) => Promise<T>,
  context: RetryContext,
): Promise<T> {
  const { signal, onFailure } = context;
  const patience = new Patience(context);
  for (let attempt = 1; ; attempt++) {
    try {
      return await action(attempt);
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      const { retryInMs, sleepMs, away } = patience.after(error);
      // What it met may be why it is to end: then nothing is tried again.
      await onFailure({ attempt, error, retryInMs: signal.aborted ? null : retryInMs });
      if (signal.aborted) throw new Cancelled();
      if (away !== undefined) {
        context.health?.tooLong(away);
        throw away;
      }
      if (retryInMs === null) throw givenUp(error, attempt);
      if (sleepMs > 0) await patience.sleep(sleepMs);
      if (signal.aborted) throw new Cancelled();
    }
  }
}

interface NextAttempt {
  retryInMs: number | null;
  /** What is left to wait after the window's own pause. */
  sleepMs: number;
  /** Why the run is to be interrupted. */
  away?: ProviderAway;
}

const GIVE_UP: NextAttempt = { retryInMs: null, sleepMs: 0 };

/** What one request has met so far. */
class Patience {
  readonly #context: RetryContext;
  #failures = 0;
  #failedAt: { time: number; waitedMs: number } | null = null;
  #awayFailures = 0;
  /** Its own outage, where it is not everybody's: since when, and what time asleep had been left out by then. */
  #away: { since: number; asleepMs: number } | null = null;
  /** How much later than it should it woke from pauses of its own. */
  #lateMs = 0;
  #refusals = 0;
  #refusedAt: number | null = null;
  readonly #limitWait = new LimitWait();

  constructor(context: RetryContext) {
    this.#context = context;
  }

  async sleep(ms: number): Promise<void> {
    const { clock, signal } = this.#context;
    const due = clock.now() + ms;
    await sleepThrough(clock, ms, signal);
    const lateMs = clock.now() - due;
    if (lateMs > STOOD_STILL_MS) this.#lateMs += lateMs;
  }

  after(error: ModelError): NextAttempt {
    const { clock, limits, health } = this.#context;
    if (limits !== undefined) this.#limitWait.count(asksToWait(error), limits.succeededAt, clock.now());
    const delay = Math.max(limits?.pausedMs() ?? 0, error.retryAfterMs ?? 0);
    if (limits !== undefined && asksToWait(error) && delay >= LONG_PAUSE_MS)
      return this.#afterLongPause(error, delay, limits);
    const verdict = health?.verdict(error) ?? null;
    if (verdict === 'interrupt') return interruptedBy(error);
    if (verdict === 'wait') return this.#afterOutage(error, health?.patienceMs ?? 0);
    if (error.family !== 'retryable') return GIVE_UP;
    return limits !== undefined && isRateLimit(error)
      ? this.#afterRefusal(error, limits)
      : this.#afterFailure(error);
  }

  /** While the provider is away for everybody, the window says when one may look; else it is this request's own. */
  #afterOutage(error: ModelError, patienceMs: number): NextAttempt {
    const { policy, clock, limits } = this.#context;
    const now = clock.now();
    this.#awayFailures += 1;
    const lastsMs = Math.max(this.#ownAwayMs(now), now - (limits?.awaySince ?? now));
    if (lastsMs >= patienceMs) return interruptedBy(error, lastsMs);
    const isShared = (limits?.awaySince ?? null) !== null;
    const wanted = Math.max(error.retryAfterMs ?? 0, isShared ? 0 : backoff(this.#awayFailures, policy));
    const delay = Math.min(wanted, patienceMs - lastsMs);
    return { retryInMs: Math.max(delay, limits?.awayMs() ?? 0), sleepMs: delay };
  }

  /** Time asleep does not count, whether this request or the window noticed it. */
  #ownAwayMs(now: number): number {
    const asleepMs = this.#context.limits?.asleepMs ?? 0;
    if (this.#away === null) {
      this.#away = { since: now, asleepMs };
      this.#lateMs = 0;
    }
    return now - this.#away.since - Math.max(this.#lateMs, asleepMs - this.#away.asleepMs);
  }

  /** A provider that asks for a pause is there: an outage that follows is a new one. */
  #isThere(): void {
    this.#away = null;
    this.#awayFailures = 0;
  }

  /** The window holds the request back until then. What it has met before counts no more. */
  #afterLongPause(error: ModelError, delay: number, limits: RetryLimits): NextAttempt {
    const waitedMs = this.#limitWait.ms;
    if (waitedMs + delay > (this.#context.health?.limitMs ?? Number.POSITIVE_INFINITY))
      return interruptedBy(error, waitedMs, 'limit');
    if (delay > limits.patienceMs) return GIVE_UP;
    this.#isThere();
    this.#refusals = 0;
    this.#refusedAt = null;
    return { retryInMs: delay, sleepMs: delay - limits.pausedMs() };
  }

  /** Time counts from the first failure: an answer may take as long as it takes. */
  #afterFailure({ retryAfterMs }: ModelError): NextAttempt {
    const { policy, clock, limits } = this.#context;
    this.#failures += 1;
    const waitedMs = limits?.waitedMs ?? 0;
    this.#failedAt ??= { time: clock.now(), waitedMs };
    if (this.#failures > policy.maxRetries) return GIVE_UP;
    const delay = retryAfterMs ?? backoff(this.#failures, policy);
    return this.#within(this.#failedAt.time + waitedMs - this.#failedAt.waitedMs, delay, delay);
  }

  /** Time counts from the first 429, and again from every success of anybody with the same limit. */
  #afterRefusal(error: ModelError, limits: RetryLimits): NextAttempt {
    const { policy, clock, health } = this.#context;
    this.#isThere();
    const paused = limits.pausedMs();
    const delay = error.retryAfterMs ?? paused;
    const most = policy.maxRetries * REFUSALS_PER_RETRY;
    if (health?.hasAnswered) {
      const { ms, passedBy } = this.#limitWait;
      const isTooLong = ms + Math.max(delay, paused) > (health.limitMs ?? policy.withinMs);
      if (isTooLong || passedBy > most) return interruptedBy(error, ms, 'limit');
      return { retryInMs: delay, sleepMs: delay - paused };
    }
    this.#refusedAt ??= clock.now();
    this.#refusals += 1;
    if (this.#refusals > most) return GIVE_UP;
    return this.#within(
      Math.max(this.#refusedAt, limits.succeededAt ?? 0),
      delay,
      delay - paused,
      limits.patienceMs,
    );
  }

  #within(since: number, delay: number, sleepMs: number, mostMs = Number.POSITIVE_INFINITY): NextAttempt {
    const { policy, clock } = this.#context;
    return clock.now() + delay <= since + Math.min(policy.withinMs, mostMs)
      ? { retryInMs: delay, sleepMs }
      : GIVE_UP;
  }
}

/** How long one request has waited for limits in a row, while nobody got through. */
class LimitWait {
  /** When it was refused last; null when its last attempt failed otherwise. */
  #refusedAt: number | null = null;
  ms = 0;
  /** How often it was refused although others had got through since. */
  passedBy = 0;

  count(isRefused: boolean, succeededAt: number | null, now: number): void {
    const since = this.#refusedAt;
    this.#refusedAt = isRefused ? now : null;
    if (since === null) return;
    if ((succeededAt ?? since) <= since) {
      this.ms += now - since;
      return;
    }
    this.ms = 0;
    if (isRefused) this.passedBy += 1;
  }
}

function interruptedBy(error: ModelError, lastsMs = 0, code: InterruptionCause = 'provider'): NextAttempt {
  const waited = lastsMs < 1_000 ? '' : ` (waited ${spanText(lastsMs)})`;
  return { ...GIVE_UP, away: new ProviderAway(`${error.message}${waited}`, { cause: error, code }) };
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
