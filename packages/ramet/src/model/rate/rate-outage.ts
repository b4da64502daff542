/**
 * Whether one model of a provider is away, and who finds out that it is back (MODEL-2). Pure: time comes in as an
 * argument, and who waits is `rate-window.ts`'s.
 *
 * Invariants
 * 1. A failure says something about the provider only if nobody has had a sign of life since that attempt began:
 *    one bad connection among many good ones holds up nobody else.
 * 2. Failures that were under way together count once.
 * 3. While it is away one request at a time looks whether it is back; the others follow with the first sign of life.
 * 4. Only time counts in which a process could have checked: not time in which the machine slept or the process was
 *    stopped.
 */

/**
 * Until when nobody may send to one model, and who goes first afterwards. Pure: time comes in as an argument.
 *
 * Invariants
 * 1. A pause that this process was asked for only grows, until something succeeds.
 * 2. After a long pause one request looks whether it is over; the others follow when that one is answered.
 * 3. A long pause that another process was asked for is checked by one request of this one: it may be another
 *    account's, or the account may have been given more since.
 *
 * Limits per minute are over within one: who asks for more means a usage limit, or is down.
 */
export const LONG_PAUSE_MS = 60_000;

export class RatePause {
  #until = 0;
  #isHearsay = false;
  #lastHearsay = 0;
  #oneLooksFirst = false;
  #longSince: number | null = null;

  get until(): number {
    return this.#until;
  }

  /** Since when there was one long pause after the other, with no success between; null when there was none. */
  get longSince(): number | null {
    return this.#longSince;
  }

  leftMs(now: number): number {
    return Math.max(0, this.#until - now);
  }

  /** Whether one more may send beside those under way. */
  admits(underWay: number, now: number): boolean {
    if (this.#until > now) return this.#isHearsay && underWay === 0;
    return !this.#oneLooksFirst || underWay === 0;
  }

  /** How long until one more may send; 0 also where only those under way are in the way. */
  waitMs(underWay: number, now: number): number {
    return this.admits(underWay, now) ? 0 : this.leftMs(now);
  }

  /** A provider has asked this process for it, or it is taken because one would have to. */
  set(until: number): void {
    if (this.#isHearsay || until > this.#until) this.#until = until;
    this.#isHearsay = false;
  }

  /** The same by a refusal that says how long. */
  setByRefusal(until: number, now: number): void {
    this.set(until);
    if (until - now < LONG_PAUSE_MS) return;
    this.#oneLooksFirst = true;
    this.#longSince ??= now;
  }

  /** Another process was asked for it. True when one request is to check it. */
  hear(until: number, now: number): boolean {
    if (until <= this.#until || until <= this.#lastHearsay) return false;
    const isLong = until - now >= LONG_PAUSE_MS;
    // At the end of a pause of its own it looks for itself.
    if (isLong && this.#until > now && !this.#isHearsay) return false;
    this.#lastHearsay = until;
    this.#until = until;
    if (isLong) this.#isHearsay = true;
    return isLong;
  }

  /** A request that began after the last refusal was answered. */
  succeeded(now: number): void {
    if (this.#isHearsay) this.#until = Math.min(this.#until, now);
    this.#isHearsay = false;
    this.#oneLooksFirst = false;
    this.#longSince = null;
  }
}

/** The outcome of an attempt, as far as it tells whether the provider is there. */
export type ProviderSign = 'life' | 'away' | 'none';

export interface OutageBounds {
  /** The pause after the first failure; it doubles with each further one. */
  baseMs: number;
  capMs: number;
  /** How long an outage is waited out: the last look is at its end, not after. */
  patienceMs?: number | undefined;
}

/** A request that looks may hang itself: after this long another one looks too. */
const NEXT_LOOK_MS = 15_000;
/** What is later than this has slept with the machine, or was stopped; a busy machine is rarely as late. */
export const STOOD_STILL_MS = 3_000;
/** One look counts for no longer: a connection without a byte is dead before that. */
const LONGEST_LOOK_MS = 120_000;

export class RateOutage {
  readonly #bounds: OutageBounds;
  #since: number | null = null;
  #failures = 0;
  #failedAt = 0;
  #retryAt = 0;
  #lifeAt = Number.NEGATIVE_INFINITY;
  #lookedAt: number | null = null;
  /** When a process was last known to be awake. */
  #awakeAt = 0;
  #asleepMs = 0;

  constructor(bounds: OutageBounds) {
    this.#bounds = bounds;
  }

  /** Since when the provider is away, less the time asleep; null when it is not away. */
  get since(): number | null {
    return this.#since;
  }

  /** How much time asleep was left out so far, over all outages. */
  get asleepMs(): number {
    return this.#asleepMs;
  }

  /** How long it takes until one may look. */
  waitMs(now: number): number {
    if (this.#since === null) return 0;
    const next = this.#lookedAt === null ? 0 : this.#lookedAt + NEXT_LOOK_MS;
    return Math.max(0, Math.max(this.#retryAt, next) - now);
  }

  /** A request begins. True when it is one that looks. */
  begin(now: number): boolean {
    if (this.#since === null) return false;
    const due = Math.max(this.#awakeAt, this.#retryAt, (this.#lookedAt ?? -NEXT_LOOK_MS) + NEXT_LOOK_MS);
    if (now - due > STOOD_STILL_MS) this.#leaveOut(now - due);
    this.#awakeAt = now;
    this.#lookedAt = now;
    return true;
  }

  /** One that looked has ended without finding out anything. */
  lookedInVain(): void {
    this.#lookedAt = null;
  }

  /** The process stood still, or the machine slept: what was found out before is old. */
  woke(now: number, asleepMs: number): void {
    this.#leaveOut(asleepMs);
    this.#awakeAt = now;
    this.#retryAt = 0;
    this.#lookedAt = null;
  }

  /** A person wants to know now: the next request looks, also beside one that hangs. */
  lookNow(): void {
    this.#retryAt = 0;
    this.#lookedAt = null;
  }

  /** The provider has answered a request. True when it was away. */
  alive(now: number): boolean {
    const wasAway = this.#since !== null;
    this.#lifeAt = now;
    this.#since = null;
    this.#failures = 0;
    this.#retryAt = 0;
    this.#lookedAt = null;
    return wasAway;
  }

  /** `asleepMs` is how much of the attempt the machine slept, as far as its clocks tell. */
  failed(startedAt: number, now: number, asleepMs = 0): void {
    if (this.#lifeAt > startedAt) return;
    if (this.#since !== null && startedAt <= this.#failedAt) return;
    const { baseMs, capMs, patienceMs = Number.POSITIVE_INFINITY } = this.#bounds;
    const pause = Math.min(capMs, baseMs * 2 ** this.#failures);
    // Another process may have been awake since, and has left out the time before.
    const slept = this.#awakeAt > startedAt || asleepMs < STOOD_STILL_MS ? 0 : asleepMs;
    const lookMs = now - Math.max(startedAt, this.#awakeAt) - slept;
    this.#leaveOut(slept + Math.max(0, lookMs - LONGEST_LOOK_MS));
    this.#awakeAt = now;
    this.#since ??= now;
    this.#failures += 1;
    this.#failedAt = now;
    this.#lookedAt = null;
    const wanted = now + Math.round(pause * (0.75 + 0.25 * Math.random()));
    this.#retryAt = Math.max(now, Math.min(wanted, this.#since + patienceMs));
  }

  #leaveOut(ms: number): void {
    if (this.#since === null) return;
    this.#since += ms;
    this.#asleepMs += ms;
  }
}
