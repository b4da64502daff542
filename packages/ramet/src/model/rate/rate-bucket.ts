/**
 * What is known of one provider's limits for one model, and what follows from each answer. Pure: time comes in as an
 * argument, and who waits is `rate-window.ts`'s.
 *
 * Invariants
 * 1. 1 <= size <= ceiling.
 * 2. A burst of refusals narrows once: only a request that began after the last narrowing narrows again.
 * 3. The size is halved from what was under way, not from what was allowed: a window nobody filled is no measure. Nor
 *    is a single request: fewer than eight count as eight, until a second refusal says otherwise.
 * 4. A pause ends no later than the longest pause from now; a refusal that asks for more counts as one that says nothing.
 */

import { ModelError } from '../../schema/errors.ts';
import type { SharedRate } from './machine-rates.ts';
import { exhaustedUntil, refusedUntil } from './rate-headers.ts';
import { LONG_PAUSE_MS, RatePause } from './rate-outage.ts';

export type RateOutcome =
  | { kind: 'answered'; rate: Readonly<Record<string, string>> }
  /** A 429; or a 529, which asks for less at once and for a pause only when it says how long. */
  | {
      kind: 'limited';
      overloaded: boolean;
      retryAfterMs: number | undefined;
      rate: Readonly<Record<string, string>> | undefined;
    }
  | { kind: 'failed' };

export interface RateBounds {
  /** Most requests at once. */
  ceiling: number;
  /** The first pause after a refusal that names none, and the longest such pause. */
  baseMs: number;
  capMs: number;
  /** The longest pause that is honoured. */
  longestMs: number;
}

/** Without a refusal for this long, each success widens by one; before, each round of successes does. */
const QUIET_MS = 60_000;
const LEAST_MEASURE = 8;
/** A refusal that others met is no news after this. */
const STALE_MS = 300_000;
/** How often successes are told to others while the limit is felt. */
const PROGRESS_MS = 5_000;

export class RateBucket {
  readonly #bounds: RateBounds;
  #size: number;
  #inUse = 0;
  #epoch = 0;
  #limitedAt = 0;
  readonly #pause = new RatePause();
  #succeededAt: number | null = null;
  /** Refusals in a row that named no pause. */
  #unexplained = 0;
  /** Successes towards the next step of growth, as a share of one. */
  #growth = 0;
  #told = { limitedAt: 0, pausedUntil: 0, succeededAt: 0 };

  constructor(bounds: RateBounds) {
    this.#bounds = bounds;
    this.#size = bounds.ceiling;
  }

  get size(): number {
    return this.#size;
  }

  get inUse(): number {
    return this.#inUse;
  }

  /** When anybody's request succeeded last. */
  get succeededAt(): number | null {
    return this.#succeededAt;
  }

  pausedMs(now: number): number {
    return this.#pause.leftMs(now);
  }

  /** How long those who wait have to; less than the pause where one of them may check it. */
  waitMs(now: number): number {
    return this.#pause.waitMs(this.#inUse, now);
  }

  hasRoom(now: number): boolean {
    return this.#inUse < this.#size && this.#pause.admits(this.#inUse, now);
  }

  /** Nobody sends before. */
  get pausedUntil(): number {
    return this.#pause.until;
  }

  /** Since when there was one long pause after the other, with no success between; null when there was none. */
  get longPausedSince(): number | null {
    return this.#pause.longSince;
  }

  /** Whether one long pause after the other lasts for more than that. */
  isPausedBeyond(longestMs: number, now: number): boolean {
    const since = this.longPausedSince;
    return since !== null && this.pausedUntil > Math.max(now, since + longestMs);
  }

  /** A request is sent; `end` takes what this returns. */
  begin(): number {
    this.#inUse += 1;
    return this.#epoch;
  }

  end(epoch: number, outcome: RateOutcome, now: number): void {
    if (outcome.kind === 'limited') this.#refused(epoch, outcome, now);
    else if (outcome.kind === 'answered') this.#succeeded(epoch, outcome.rate, now);
    this.#inUse -= 1;
  }

  /** Takes what another process has met. */
  adopt(shared: SharedRate, now: number): void {
    const { size, limitedAt, pausedUntil, succeededAt } = shared;
    const untold = this.#isUntold();
    if (limitedAt > this.#limitedAt && limitedAt > now - STALE_MS && limitedAt <= now && size >= 1) {
      // Half of the own, if that is more: a neighbour that sends one at a time must not bring all to that.
      this.#narrow(Math.max(size, this.#inUse / 2), limitedAt);
    }
    if (pausedUntil <= now + this.#bounds.longestMs && this.#pause.hear(pausedUntil, now)) this.#epoch += 1;
    if (succeededAt !== null && succeededAt <= now) this.#progress(succeededAt);
    if (!untold) this.#tell();
  }

  /** What others should know, once; null when there is nothing new. */
  news(now: number): SharedRate | null {
    const felt = this.#limitedAt > 0 && this.#limitedAt > now - STALE_MS;
    const progressed = felt && (this.#succeededAt ?? 0) >= this.#told.succeededAt + PROGRESS_MS;
    if (!progressed && !this.#isUntold()) return null;
    this.#tell();
    return {
      size: this.#size,
      limitedAt: this.#limitedAt,
      pausedUntil: this.pausedUntil,
      succeededAt: this.#succeededAt,
    };
  }

  #isUntold(): boolean {
    return this.#limitedAt > this.#told.limitedAt || this.pausedUntil > this.#told.pausedUntil;
  }

  #tell(): void {
    this.#told = {
      limitedAt: this.#limitedAt,
      pausedUntil: this.pausedUntil,
      succeededAt: this.#succeededAt ?? 0,
    };
  }

  #refused(
    epoch: number,
    { overloaded, retryAfterMs, rate }: RateOutcome & { kind: 'limited' },
    now: number,
  ) {
    const first = epoch === this.#epoch;
    if (first) this.#narrow(Math.min(this.#size, Math.max(this.#inUse, LEAST_MEASURE)) / 2, now);
    const { longestMs } = this.#bounds;
    const isNamed = retryAfterMs !== undefined && retryAfterMs > 0 && retryAfterMs <= longestMs;
    const until = isNamed ? now + retryAfterMs : refusedUntil(rate ?? {}, now, longestMs);
    if (until !== null) this.#pause.setByRefusal(until, now);
    else if (first && !overloaded) this.#pause.set(now + this.#ownPause());
  }

  #ownPause(): number {
    const { baseMs, capMs } = this.#bounds;
    const pause = Math.min(capMs, baseMs * 2 ** this.#unexplained);
    this.#unexplained += 1;
    return Math.round(pause * (0.75 + 0.25 * Math.random()));
  }

  #narrow(size: number, at: number): void {
    this.#size = Math.max(1, Math.floor(Math.min(this.#size, size)));
    this.#limitedAt = at;
    this.#growth = 0;
    this.#epoch += 1;
  }

  #succeeded(epoch: number, rate: Readonly<Record<string, string>>, now: number): void {
    this.#progress(now);
    this.#unexplained = 0;
    if (epoch === this.#epoch) this.#pause.succeeded(now);
    const renewed = exhaustedUntil(rate, now);
    if (renewed !== null) this.#pause.set(renewed);
    if (epoch !== this.#epoch || this.#size === this.#bounds.ceiling) return;
    this.#growth += now - this.#limitedAt >= QUIET_MS ? 1 : 1 / this.#size;
    // The shares of a round add up to a little less than one.
    if (this.#growth < 0.999) return;
    this.#growth = 0;
    this.#size += 1;
  }

  #progress(at: number): void {
    if (at > (this.#succeededAt ?? 0)) this.#succeededAt = at;
  }
}

/**
 * Which failures of a provider are about its limits, also those that come inside a stream and have no status.
 *
 * A 429 that waiting helps; a spend limit is terminal.
 */
export function isRateLimit({ family, status, code }: ModelError): boolean {
  return family === 'retryable' && (status === 429 || code === 'rate_limit_error');
}

function isOverload({ family, status, code }: ModelError): boolean {
  return family === 'retryable' && (status === 529 || code === 'overloaded_error');
}

/** Whether waiting is what the provider asks for: by a 429, or for so long that it is no hiccup. */
export function asksToWait(error: ModelError): boolean {
  return isRateLimit(error) || asksForLongPause(error);
}

/** A provider that is down says so for minutes (a 529 or 503): to try again before would be for nothing. */
function asksForLongPause(error: ModelError): boolean {
  const { family, status, retryAfterMs = 0 } = error;
  return retryAfterMs >= LONG_PAUSE_MS && (isOverload(error) || (family === 'retryable' && status === 503));
}

/** What a failed attempt tells the rate window. */
export function failureOutcome(error: unknown): RateOutcome {
  if (!(error instanceof ModelError)) return { kind: 'failed' };
  const overloaded = isOverload(error) || asksForLongPause(error);
  if (!overloaded && !isRateLimit(error)) return { kind: 'failed' };
  const { retryAfterMs, rate } = error;
  return { kind: 'limited', overloaded, retryAfterMs, rate };
}
