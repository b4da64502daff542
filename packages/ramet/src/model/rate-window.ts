/**
 * One window for all requests of a session (LAUNCH-2): how many may be under way, and when the next may go. A refusal
 * narrows it and pauses it for everybody; other processes of the machine learn of it through the store. It owns who
 * waits; what an answer means for the window is `rate-bucket.ts`'s.
 *
 * Invariants
 * 1. Requests start in the order in which they first came; one that was refused keeps its place.
 * 2. Every granted ticket counts until it is released, once, and what it held is then given on.
 * 3. Who leaves the queue leaves nothing behind; a timer runs only while somebody waits for a pause to end.
 * 4. Whatever happens to the store, requests go on.
 */
import { createHash } from 'node:crypto';
import { LONGEST_PAUSE_MS, type RateStore } from '../journal/machine-rates.ts';
import { type Clock, LOOK_AGAIN_MS } from '../schema/clock.ts';
import { Cancelled, LimitReached } from '../schema/errors.ts';
import type { ModelProvider } from './provider.ts';
import { RateBucket } from './rate-bucket.ts';
import { RateQueue } from './rate-queue.ts';
import type { OnRateWait, RateRequest, RateTicket } from './rate-request.ts';
import type { RetryPolicy } from './retry.ts';

export type { RateRequest, RateTicket } from './rate-request.ts';

export interface RateWindow {
  /** A request that bears pauses of at most `patienceMs`; without it, any. */
  request(model: string, patienceMs?: number): RateRequest;
  close(): void;
}

export const DEFAULT_CONCURRENT_REQUESTS = 100;

export interface RateWindowOptions {
  provider: Pick<ModelProvider, 'name' | 'origin'>;
  clock: Clock;
  /** Its pauses are the window's where a refusal names none. */
  policy: Pick<RetryPolicy, 'baseMs' | 'capMs'>;
  /** Most requests under way at once: of the session, and so of one model. */
  concurrentRequests?: number | undefined;
  /** Null when no other process is to know. */
  store?: RateStore | null | undefined;
  /** For how long one long pause after the other is waited out; without it, for ever. */
  longestWaitMs?: number | undefined;
  /** Called when a pause lasts longer than that: whoever waits is to be aborted. */
  onTooLong?: ((model: string, until: number) => void) | undefined;
}

/** How old what was read of the store may be. */
const FRESH_MS = 200;
/** A shorter pause is over before anybody has read of it. */
const WORTH_TELLING_MS = 1_000;

interface Lane {
  readonly model: string;
  readonly name: string;
  readonly bucket: RateBucket;
  readonly queue: RateQueue;
  readAt: number;
  /** The end of the pause that those who wait know of. */
  toldUntil: number;
  /** Ends the sleep until the pause is over. */
  alarm: AbortController | null;
}

export function createRateWindow(options: RateWindowOptions): RateWindow {
  return new SessionRateWindow(options);
}

class SessionRateWindow implements RateWindow {
  readonly #options: RateWindowOptions;
  readonly #clock: Clock;
  readonly #store: RateStore | null;
  readonly #limit: number;
  readonly #lanes: Map<string, Lane> = new Map();
  #inUse = 0;
  #waiting = 0;
  #arrivals = 0;

  constructor(options: RateWindowOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#store = options.store ?? null;
    this.#limit = options.concurrentRequests ?? DEFAULT_CONCURRENT_REQUESTS;
  }

  request(model: string, patienceMs: number = Number.POSITIVE_INFINITY): RateRequest {
    const lane = this.#lane(model);
    const { bucket } = lane;
    const now = (): number => this.#clock.now();
    let place = 0;
    let waitedMs = 0;
    const wait = async (signal: AbortSignal, onWait?: OnRateWait): Promise<RateTicket> => {
      const since = now();
      this.#refuseTooLong(lane, patienceMs);
      // Told before it stands in the queue: whatever comes of that, no ticket is granted that nobody takes.
      onWait?.(bucket.pausedMs(since) > 0 ? bucket.pausedUntil : null);
      this.#noteTooLong(lane);
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
      acquire: (signal, onWait) => {
        if (signal.aborted) return Promise.reject(new Cancelled());
        if (place === 0) place = ++this.#arrivals;
        this.#refresh(lane);
        if (lane.queue.size === 0 && this.#canStart(lane)) return Promise.resolve(this.#start(lane));
        return wait(signal, onWait);
      },
    };
  }

  close(): void {
    for (const { alarm } of this.#lanes.values()) alarm?.abort();
    this.#store?.close();
  }

  #lane(model: string): Lane {
    const known = this.#lanes.get(model);
    if (known !== undefined) return known;
    const { policy, provider } = this.#options;
    const { baseMs, capMs } = policy;
    const lane = {
      model,
      name: bucketName(provider, model),
      bucket: new RateBucket({ ceiling: this.#limit, baseMs, capMs, longestMs: LONGEST_PAUSE_MS }),
      queue: new RateQueue(),
      readAt: Number.NEGATIVE_INFINITY,
      toldUntil: 0,
      alarm: null,
    };
    this.#lanes.set(model, lane);
    return lane;
  }

  #canStart({ bucket }: Lane): boolean {
    return this.#inUse < this.#limit && bucket.hasRoom(this.#clock.now());
  }

  #start(lane: Lane): RateTicket {
    const epoch = lane.bucket.begin();
    this.#inUse += 1;
    let held = true;
    return {
      release: (outcome) => {
        if (!held) return;
        held = false;
        this.#inUse -= 1;
        const now = this.#clock.now();
        lane.bucket.end(epoch, outcome, now);
        const news = this.#store === null ? null : lane.bucket.news(now);
        if (news !== null) this.#store?.write(lane.name, news);
        this.#tellPause(lane);
        if (this.#waiting > 0) this.#giveOn();
      },
    };
  }

  #wait(
    lane: Lane,
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
        resolve(this.#start(lane));
      };
      const told = (until: number): void => {
        try {
          this.#refuseTooLong(lane, patienceMs);
          onWait?.(until);
        } catch (error) {
          leave();
          reject(error);
        }
      };
      const waiter = { place, grant, told };
      lane.queue.add(waiter);
      this.#waiting += 1;
      signal.addEventListener('abort', abort);
      // The pause may have ended since it was looked at; nobody else would wake this one then.
      this.#giveOn();
    });
  }

  /** Starts whoever can go, over all models in the order of their places. */
  #giveOn(): void {
    for (;;) {
      let next: Lane | null = null;
      for (const lane of this.#lanes.values()) {
        if (lane.queue.size === 0 || !this.#canStart(lane)) continue;
        if (next === null || lane.queue.firstPlace < next.queue.firstPlace) next = lane;
      }
      if (next === null) break;
      next.queue.first?.grant();
    }
    for (const lane of this.#lanes.values()) void this.#sleepThroughPause(lane);
  }

  async #sleepThroughPause(lane: Lane): Promise<void> {
    if (lane.alarm !== null || lane.queue.size === 0 || this.#pauseOf(lane) === 0) return;
    const alarm = new AbortController();
    lane.alarm = alarm;
    for (let pause = this.#pauseOf(lane); pause > 0; pause = this.#pauseOf(lane)) {
      await this.#clock.sleep(Math.min(pause, LOOK_AGAIN_MS), alarm.signal);
      if (alarm.signal.aborted) return;
      // Another process may have been refused meanwhile.
      this.#refresh(lane);
      this.#tellPause(lane);
    }
    lane.alarm = null;
    this.#giveOn();
  }

  /** Those who wait learn until when, and whoever bounds the waiting that it is too long. */
  #tellPause(lane: Lane): void {
    const { bucket, queue } = lane;
    const until = bucket.pausedUntil;
    if (until < this.#clock.now() + WORTH_TELLING_MS || until <= lane.toldUntil) return;
    lane.toldUntil = until;
    for (const waiter of queue.waiters) waiter.told(until);
    this.#noteTooLong(lane);
  }

  #noteTooLong({ bucket, model }: Lane): void {
    const { longestWaitMs, onTooLong } = this.#options;
    const { longPausedSince: since, pausedUntil: until } = bucket;
    if (since === null || longestWaitMs === undefined || until <= since + longestWaitMs) return;
    if (until > this.#clock.now()) onTooLong?.(model, until);
  }

  #refuseTooLong({ bucket, model }: Lane, patienceMs: number): void {
    if (bucket.longPausedSince === null || bucket.pausedMs(this.#clock.now()) <= patienceMs) return;
    throw new LimitReached(model, bucket.pausedUntil);
  }

  #pauseOf({ bucket }: Lane): number {
    return bucket.pausedMs(this.#clock.now());
  }

  #refresh(lane: Lane): void {
    if (this.#store === null) return;
    const now = this.#clock.now();
    if (now - lane.readAt < FRESH_MS && now >= lane.readAt) return;
    lane.readAt = now;
    const shared = this.#store.read(lane.name);
    if (shared !== null) lane.bucket.adopt(shared, now);
  }
}

/** The same for all processes that share a limit, as far as that can be told without the key: it holds no secret. */
export function bucketName({ name, origin }: Pick<ModelProvider, 'name' | 'origin'>, model: string): string {
  const host = createHash('sha256')
    .update(origin ?? '')
    .digest('hex')
    .slice(0, 12);
  return `${name} ${host} ${model}`;
}
