/** One model in a rate window: its limits, whether its provider is there, and who waits. */
import { createHash } from 'node:crypto';
import { type Clock, LOOK_AGAIN_MS } from '../../schema/clock.ts';
import type { ModelProvider } from '../provider.ts';
import { LONGEST_PAUSE_MS, type RateStore } from './machine-rates.ts';
import { RateBucket, type RateOutcome } from './rate-bucket.ts';
import { type ProviderSign, RateOutage } from './rate-outage.ts';
import type { RateWaitCause } from './rate-request.ts';
import type { RetryPolicy } from './retry.ts';

class RateQueue {
  readonly #waiters: RateWaiter[] = [];

  get size(): number {
    return this.#waiters.length;
  }

  get first(): RateWaiter | undefined {
    return this.#waiters[0];
  }

  get firstPlace(): number {
    return this.#waiters[0]?.place ?? Number.POSITIVE_INFINITY;
  }

  /** A copy: a request that is notified may leave. */
  get waiters(): readonly RateWaiter[] {
    return [...this.#waiters];
  }

  add(waiter: RateWaiter): void {
    this.#waiters.splice(this.#indexOf(waiter.place), 0, waiter);
  }

  remove(waiter: RateWaiter): void {
    const index = this.#indexOf(waiter.place);
    if (this.#waiters[index] === waiter) this.#waiters.splice(index, 1);
  }

  /** Where the place is, or would be. */
  #indexOf(place: number): number {
    let low = 0;
    let high = this.#waiters.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#waiters[middle]?.place ?? 0) < place) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** How many times as long as between retries the longest pause between two looks at a provider that is away is. */
const OUTAGE_CAPS = 4;

export interface RateLane {
  readonly model: string;
  readonly name: string;
  readonly bucket: RateBucket;
  readonly outage: RateOutage;
  readonly queue: RateQueue;
  readAt: number;
  /** The end of the pause that those who wait know of. */
  toldUntil: number;
  /** Ends the sleep until the pause is over. */
  alarm: AbortController | null;
}

export interface RateWindowOptions {
  provider: Pick<ModelProvider, 'name' | 'origin'>;
  clock: Clock;
  /** Its pauses are the window's where a refusal names none. */
  policy: Pick<RetryPolicy, 'baseMs' | 'capMs'>;
  /** How long an outage is waited out; without it, any time. */
  outageMs?: number | undefined;
  /** Most requests under way at once: of the session, and so of one model. */
  concurrentRequests?: number | undefined;
  /** Null when no other process is to know. */
  store?: RateStore | null | undefined;
  /** For how long one long pause after the other is waited out; without it, for ever. */
  longestWaitMs?: number | undefined;
  /** Called when a pause lasts longer than that: the waiting requests are to be aborted. */
  onTooLong?: ((model: string, until: number) => void) | undefined;
}

export interface RateLaneOptions {
  provider: Pick<ModelProvider, 'name' | 'origin'>;
  model: string;
  /** Most requests at once. */
  ceiling: number;
  policy: Pick<RetryPolicy, 'baseMs' | 'capMs'>;
  /** How long an outage is waited out; without it, any time. */
  outageMs?: number | undefined;
}

export function createRateLane(options: RateLaneOptions): RateLane {
  const { provider, model, ceiling, outageMs } = options;
  const { baseMs, capMs } = options.policy;
  return {
    model,
    name: bucketName(provider, model),
    bucket: new RateBucket({ ceiling, baseMs, capMs, longestMs: LONGEST_PAUSE_MS }),
    outage: new RateOutage({ baseMs, capMs: capMs * OUTAGE_CAPS, patienceMs: outageMs }),
    queue: new RateQueue(),
    readAt: Number.NEGATIVE_INFINITY,
    toldUntil: 0,
    alarm: null,
  };
}

export function causeOf({ outage }: RateLane): RateWaitCause {
  return outage.since === null ? 'limit' : 'provider';
}

const LOOK_AFTER_WAKING_MS = 1_000;

/** A provider that was away may be back when a machine wakes; a limit lasts as long as it was said to. */
export function lookAgainMs({ outage }: RateLane): number {
  return outage.since === null ? LOOK_AGAIN_MS : LOOK_AFTER_WAKING_MS;
}

/** One that looked, or checked a limit, has ended, and the next may go sooner than those who wait know. */
export function wakeEarlier(lane: RateLane): void {
  lane.alarm?.abort();
  lane.alarm = null;
}

/** If its provider is away, the next request looks whether it is back. */
export function lookAtOnce(lane: RateLane): void {
  if (lane.outage.since === null) return;
  lane.outage.lookNow();
  wakeEarlier(lane);
}

/** Sleeps, and returns how much longer that took than it should have. */
export async function oversleptMs(clock: Clock, ms: number, signal: AbortSignal): Promise<number> {
  const due = clock.now() + ms;
  await clock.sleep(ms, signal);
  return clock.now() - due;
}

/** Whatever is no failure is a sign of life. */
export function signOf({ kind }: RateOutcome): ProviderSign {
  return kind === 'failed' ? 'none' : 'life';
}

/** The same for all processes that share a limit, as far as that can be told without the key: it holds no secret. */
export function bucketName({ name, origin }: Pick<ModelProvider, 'name' | 'origin'>, model: string): string {
  const host = createHash('sha256')
    .update(origin ?? '')
    .digest('hex')
    .slice(0, 12);
  return `${name} ${host} ${model}`;
}

/** Who waits for a place in a rate window, in order of arrival whenever they join. */
interface RateWaiter {
  /** Numbers of arrival: unique, the lowest goes first. */
  readonly place: number;
  /** It waits as long as the run may; another model takes over from those that do not. */
  readonly isPatient: boolean;
  grant(): void;
  /** Nobody goes before that time, or before the provider is back: told again when it changes. */
  told(until: number | null, cause: RateWaitCause): void;
}
