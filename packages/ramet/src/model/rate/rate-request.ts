/** One request to a model as the rate window sees it: its turns, and how long it is willing to wait for them. */
import type { RateOutcome } from './rate-bucket.ts';
import type { ProviderSign } from './rate-outage.ts';

export interface RateTicket {
  /** Whether it looks if a provider that was away is back. */
  readonly looks: boolean;
  /** The provider has begun to answer. */
  began(): void;
  /** The attempt is over. A second call does nothing. Without a sign, whatever is no failure is a sign of life. */
  release(outcome: RateOutcome, sign?: ProviderSign): void;
}

/** One request, however many attempts it takes. */
export interface RateRequest {
  /** How long it has waited here so far: no failure of its own. */
  readonly waitedMs: number;
  /** When any request to the same model succeeded last. */
  readonly succeededAt: number | null;
  readonly patienceMs: number;
  /** How long nobody may send, from now on. */
  pausedMs(): number;
  /** Since when the provider is away; null when it is not. */
  readonly awaySince: number | null;
  /** How much time asleep is left out of that, and was of earlier outages. */
  readonly asleepMs: number;
  /** How long until one request looks whether it is back. */
  awayMs(): number;
  /**
   * Before each attempt. `onWait` is called if it cannot go at once, and again when the time changes until which nobody
   * may; null when it waits for others only, or for a provider that is away. Rejects with Cancelled on abort, with LimitReached when patience ends.
   */
  acquire(signal: AbortSignal, onWait?: OnRateWait): Promise<RateTicket>;
}

export type OnRateWait = (until: number | null, cause: RateWaitCause) => void;

export type RateWaitCause = 'limit' | 'provider';
