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
import type { RateStore } from '../journal/machine-rates.ts';
import type { Clock } from '../schema/clock.ts';
import { Cancelled } from '../schema/errors.ts';
import type { ModelProvider } from './provider.ts';
import { RateBucket, type RateOutcome } from './rate-bucket.ts';
import { RateQueue } from './rate-queue.ts';
import type { RetryPolicy } from './retry.ts';

export interface RateTicket {
  /** The attempt is over. A second call does nothing. */
  release(outcome: RateOutcome): void;
}

/** One request, however many attempts it takes. */
export interface RateRequest {
  /** How long it has waited here so far: no failure of its own. */
  readonly waitedMs: number;
  /** When any request to the same model succeeded last. */
  readonly succeededAt: number | null;
  /** How long nobody may send, from now on. */
  pausedMs(): number;
  /** Before each attempt; `onWait` is called once if it cannot go at once. Rejects with Cancelled on abort. */
  acquire(signal: AbortSignal, onWait?: () => void): Promise<RateTicket>;
}

export interface RateWindow {
  request(model: string): RateRequest;
  close(): void;
}

export const DEFAULT_CONCURRENT_REQUESTS = 100;

export interface RateWindowOptions {
  provider: Pick<ModelProvider, 'name' | 'origin'>;
  clock: Clock;
  /** Its pauses are the window's where a refusal names none; no longer than its patience is a pause honoured. */
  policy: Pick<RetryPolicy, 'withinMs' | 'baseMs' | 'capMs'>;
  /** Most requests under way at once: of the session, and so of one model. */
  concurrentRequests?: number | undefined;
  /** Null when no other process is to know. */
  store?: RateStore | null | undefined;
}

/** How old what was read of the store may be. */
const FRESH_MS = 200;
/** The longest that a timer can be set to. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

interface Lane {
  readonly name: string;
  readonly bucket: RateBucket;
  readonly queue: RateQueue;
  readAt: number;
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

  request(model: string): RateRequest {
    const lane = this.#lane(model);
    const { bucket } = lane;
    const now = (): number => this.#clock.now();
    let place = 0;
    let waitedMs = 0;
    const wait = async (signal: AbortSignal, onWait?: () => void): Promise<RateTicket> => {
      const since = now();
      // Told before it stands in the queue: whatever comes of that, no ticket is granted that nobody takes.
      onWait?.();
      if (signal.aborted) throw new Cancelled();
      const ticket = await this.#wait(lane, place, signal);
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
    const { baseMs, capMs, withinMs: longestMs } = policy;
    const lane = {
      name: bucketName(provider, model),
      bucket: new RateBucket({ ceiling: this.#limit, baseMs, capMs, longestMs }),
      queue: new RateQueue(),
      readAt: Number.NEGATIVE_INFINITY,
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
        if (this.#waiting > 0) this.#giveOn();
      },
    };
  }

  #wait(lane: Lane, place: number, signal: AbortSignal): Promise<RateTicket> {
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
      const waiter = { place, grant };
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
      await this.#clock.sleep(Math.min(pause, LONGEST_TIMER_MS), alarm.signal);
      if (alarm.signal.aborted) return;
      // Another process may have been refused meanwhile.
      this.#refresh(lane);
    }
    lane.alarm = null;
    this.#giveOn();
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
