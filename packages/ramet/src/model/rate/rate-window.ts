/**
 * One window for all requests of a session (LAUNCH-2): how many may be under way, and when the next may go. A refusal
 * narrows it and pauses it for everybody; other processes of the machine learn of it through the store. It owns who
 * waits; `rate-bucket.ts` knows what an answer means for the window, `rate-outage.ts` whether the provider is there.
 *
 * Invariants
 * 1. Requests start in the order in which they first came; one that was refused keeps its place.
 * 2. Every granted ticket counts until it is released, once, and what it held is then given on.
 * 3. A request that leaves the queue leaves nothing behind; a timer runs only while a request waits for a pause to end.
 * 4. Whatever happens to the store, requests continue.
 */

import { type Clock, elapsedOf } from '../../schema/clock.ts';
import { Cancelled, LimitReached } from '../../schema/errors.ts';
import type { RateStore } from './machine-rates.ts';
import {
  causeOf,
  createRateLane,
  lookAgainMs,
  lookAtOnce,
  oversleptMs,
  type RateLane,
  type RateWindowOptions,
  signOf,
  wakeEarlier,
} from './rate-lane.ts';
import { type ProviderSign, STOOD_STILL_MS } from './rate-outage.ts';
import type { OnRateWait, RateRequest, RateTicket, RateWaitCause } from './rate-request.ts';

export type { RateRequest, RateTicket } from './rate-request.ts';

export interface RateWindow {
  /** A request that bears pauses of at most `patienceMs`; without it, any. */
  request(model: string, patienceMs?: number): RateRequest;
  /** Whether a request could go at once, and none waits. */
  isFree(model: string): boolean;
  /** A person waits: one request looks at once whether a provider that is away is back. Limits are kept. */
  lookNow(): void;
  close(): void;
}

export const DEFAULT_CONCURRENT_REQUESTS = 100;

/** How old what was read of the store may be. */
const FRESH_MS = 200;
/** A shorter pause is over before anybody has read of it. */
const WORTH_TELLING_MS = 1_000;

export function createRateWindow(options: RateWindowOptions): RateWindow {
  return new SessionRateWindow(options);
}

class SessionRateWindow implements RateWindow {
  readonly #options: RateWindowOptions;
  readonly #clock: Clock;
  readonly #store: RateStore | null;
  readonly #limit: number;
  readonly #lanes: Map<string, RateLane> = new Map();
  #inUse = 0;
  #waiting = 0;
  #arrivals = 0;

  constructor(options: RateWindowOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#store = options.store ?? null;
    this.#limit = options.concurrentRequests ?? DEFAULT_CONCURRENT_REQUESTS;
  }

  request(model: string, mostMs: number = Number.POSITIVE_INFINITY): RateRequest {
    const lane = this.#lane(model);
    const { bucket, outage } = lane;
    // A request with a fallback model tries a few times and then falls back: it does not wait for others to check.
    const isPatient = mostMs === Number.POSITIVE_INFINITY;
    const patienceMs = isPatient ? mostMs : Math.min(mostMs, this.#options.longestWaitMs ?? mostMs);
    const now = (): number => this.#clock.now();
    let place = 0;
    let waitedMs = 0;
    const wait = async (signal: AbortSignal, onWait?: OnRateWait): Promise<RateTicket> => {
      const since = now();
      this.#refuseTooLong(lane, patienceMs);
      // Notified before it is in the queue: whatever that does, no ticket is granted that no one takes.
      onWait?.(bucket.pausedMs(since) > 0 ? bucket.pausedUntil : null, causeOf(lane));
      if (isPatient) this.#noteTooLong(lane);
      if (signal.aborted) throw new Cancelled();
      const ticket = await this.#wait(lane, place, signal, patienceMs, onWait);
      waitedMs += now() - since;
      return ticket;
    };
    return {
      get waitedMs() {
        return waitedMs;
      },
      get succeededAt() {
        return bucket.succeededAt;
      },
      patienceMs,
      pausedMs: () => bucket.pausedMs(now()),
      get awaySince() {
        return outage.since;
      },
      get asleepMs() {
        return outage.asleepMs;
      },
      awayMs: () => outage.waitMs(now()),
      acquire: (signal, onWait) => {
        if (signal.aborted) return Promise.reject(new Cancelled());
        if (place === 0) place = ++this.#arrivals;
        this.#refresh(lane);
        const isFirst = lane.queue.size === 0 || (!isPatient && outage.since !== null);
        if (isFirst && this.#canStart(lane, isPatient)) return Promise.resolve(this.#start(lane, isPatient));
        return wait(signal, onWait);
      },
    };
  }

  isFree(model: string): boolean {
    const lane = this.#lane(model);
    this.#refresh(lane);
    return this.#waiting === 0 && this.#canStart(lane);
  }

  lookNow(): void {
    for (const lane of this.#lanes.values()) lookAtOnce(lane);
    this.#giveOn();
  }

  close(): void {
    for (const { alarm } of this.#lanes.values()) alarm?.abort();
    this.#store?.close();
  }

  #lane(model: string): RateLane {
    const known = this.#lanes.get(model);
    if (known !== undefined) return known;
    const lane = createRateLane({ ...this.#options, model, ceiling: this.#limit });
    this.#lanes.set(model, lane);
    return lane;
  }

  #canStart({ bucket, outage }: RateLane, isPatient = true): boolean {
    const now = this.#clock.now();
    return this.#inUse < this.#limit && bucket.hasRoom(now) && !(isPatient && outage.waitMs(now) > 0);
  }

  #start(lane: RateLane, isPatient: boolean): RateTicket {
    const { bucket, outage } = lane;
    const startedAt = this.#clock.now();
    const startedElapsed = elapsedOf(this.#clock);
    const epoch = bucket.begin();
    const looks = outage.begin(startedAt);
    this.#inUse += 1;
    let held = true;
    return {
      looks,
      began: () => {
        if (outage.alive(this.#clock.now())) this.#giveOn();
      },
      release: (outcome, sign = signOf(outcome)) => {
        if (!held) return;
        held = false;
        this.#inUse -= 1;
        const now = this.#clock.now();
        bucket.end(epoch, outcome, now);
        if (looks) outage.lookedInVain();
        const asleepMs = now - startedAt - (elapsedOf(this.#clock) - startedElapsed);
        this.#noteSign(lane, sign, startedAt, asleepMs);
        if (looks || sign === 'away') wakeEarlier(lane);
        const news = this.#store === null ? null : bucket.news(now);
        if (news !== null) this.#store?.write(lane.name, news);
        this.#tellPause(lane, isPatient);
        if (this.#waiting > 0) this.#giveOn();
      },
    };
  }

  #noteSign({ outage, queue }: RateLane, sign: ProviderSign, startedAt: number, asleepMs: number): void {
    const now = this.#clock.now();
    if (sign === 'life') outage.alive(now);
    if (sign !== 'away') return;
    const wasAway = outage.since !== null;
    outage.failed(startedAt, now, asleepMs);
    if (wasAway || outage.since === null) return;
    for (const waiter of queue.waiters) waiter.told(null, 'provider');
  }

  #wait(
    lane: RateLane,
    place: number,
    signal: AbortSignal,
    patienceMs: number,
    onWait?: OnRateWait,
  ): Promise<RateTicket> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        lane.queue.remove(waiter);
        this.#waiting -= 1;
        signal.removeEventListener('abort', abort);
        if (lane.queue.size > 0) return;
        lane.alarm?.abort();
        lane.alarm = null;
      };
      const abort = (): void => {
        leave();
        reject(new Cancelled());
      };
      const grant = (): void => {
        leave();
        resolve(this.#start(lane, waiter.isPatient));
      };
      const told = (until: number | null, cause: RateWaitCause): void => {
        try {
          this.#refuseTooLong(lane, patienceMs);
          onWait?.(until, cause);
        } catch (error) {
          leave();
          reject(error);
        }
      };
      const waiter = { place, isPatient: patienceMs === Number.POSITIVE_INFINITY, grant, told };
      lane.queue.add(waiter);
      this.#waiting += 1;
      signal.addEventListener('abort', abort);
      // The pause may have ended since it was read; nothing else would wake this one then.
      this.#giveOn();
    });
  }

  /** Starts the requests that can go, over all models in the order of the queue. */
  #giveOn(): void {
    for (;;) {
      let next: RateLane | null = null;
      for (const lane of this.#lanes.values()) {
        if (lane.queue.size === 0 || !this.#canStart(lane)) continue;
        if (next === null || lane.queue.firstPlace < next.queue.firstPlace) next = lane;
      }
      if (next === null) break;
      next.queue.first?.grant();
    }
    for (const lane of this.#lanes.values()) void this.#sleepThroughPause(lane);
  }

  async #sleepThroughPause(lane: RateLane): Promise<void> {
    if (lane.alarm !== null || lane.queue.size === 0 || this.#pauseOf(lane) === 0) return;
    const alarm = new AbortController();
    lane.alarm = alarm;
    for (let pause = this.#pauseOf(lane); pause > 0; pause = this.#pauseOf(lane)) {
      const lateMs = await oversleptMs(this.#clock, Math.min(pause, lookAgainMs(lane)), alarm.signal);
      if (alarm.signal.aborted) return;
      if (lateMs > STOOD_STILL_MS) lane.outage.woke(this.#clock.now(), lateMs);
      // Another process may have been refused meanwhile.
      this.#refresh(lane);
      this.#tellPause(lane);
    }
    lane.alarm = null;
    this.#giveOn();
  }

  /** The waiting requests learn until when, and the caller with a limit learns that it is too long. */
  #tellPause(lane: RateLane, isPatient = false): void {
    const { bucket, outage, queue } = lane;
    const until = bucket.pausedUntil;
    if (until < this.#clock.now() + WORTH_TELLING_MS || until <= lane.toldUntil) return;
    if (outage.since === null) {
      lane.toldUntil = until;
      for (const waiter of queue.waiters) waiter.told(until, 'limit');
    }
    // Where another model takes over, nobody is to be interrupted.
    if (isPatient || queue.waiters.some((waiter) => waiter.isPatient)) this.#noteTooLong(lane);
  }

  #noteTooLong(lane: RateLane): void {
    if (this.#isTooLong(lane)) this.#options.onTooLong?.(lane.model, lane.bucket.pausedUntil);
  }

  #isTooLong({ bucket }: RateLane): boolean {
    return bucket.isPausedBeyond(this.#options.longestWaitMs ?? Number.POSITIVE_INFINITY, this.#clock.now());
  }

  #refuseTooLong(lane: RateLane, patienceMs: number): void {
    if (lane.bucket.longPausedSince === null || patienceMs === Number.POSITIVE_INFINITY) return;
    if (lane.bucket.pausedMs(this.#clock.now()) <= patienceMs && !this.#isTooLong(lane)) return;
    throw new LimitReached(lane.model, lane.bucket.pausedUntil);
  }

  #pauseOf({ bucket, outage }: RateLane): number {
    const now = this.#clock.now();
    return Math.max(bucket.waitMs(now), outage.waitMs(now));
  }

  #refresh(lane: RateLane): void {
    if (this.#store === null) return;
    const now = this.#clock.now();
    if (now - lane.readAt < FRESH_MS && now >= lane.readAt) return;
    lane.readAt = now;
    const shared = this.#store.read(lane.name);
    if (shared !== null) lane.bucket.adopt(shared, now);
  }
}
