/** One request to a model as the rate window sees it: its turns, and how long it is willing to wait for them. */
import type { RateOutcome } from './rate-bucket.ts';

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
  readonly patienceMs: number;
  /** How long nobody may send, from now on. */
  pausedMs(): number;
  /**
   * Before each attempt. `onWait` is called if it cannot go at once, and again when the time changes until which nobody
   * may; null when it waits for others only. Rejects with Cancelled on abort, with LimitReached when patience ends.
   */
  acquire(signal: AbortSignal, onWait?: OnRateWait): Promise<RateTicket>;
}

export type OnRateWait = (until: number | null) => void;
