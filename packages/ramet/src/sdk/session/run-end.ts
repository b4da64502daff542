/**
 * Ends whatever is under way when a provider lets nobody send, or is away, for longer than the session is to wait
 * (settings `limits.waitSeconds`, `limits.outageSeconds`): it is interrupted and can be resumed.
 */

import { PROVIDER_CAUSE } from '../../engine/opening.ts';
import type { AgentResult } from '../../engine/shapes.ts';
import { type Clock, wallOf } from '../../schema/clock.ts';
import type { ProviderAway } from '../../schema/errors.ts';
import { untilText } from '../../schema/until-text.ts';

/** Why a signal is aborted then, and so the cause of how its agents ended. */
export type RunEndCause = 'limit' | typeof PROVIDER_CAUSE;

export class RunEnd {
  #cause: RunEndCause | null = null;
  #message: (clock: Clock) => string = () => '';
  /** Ends whatever is under way. */
  onReached: ((cause: RunEndCause) => void) | null = null;

  /** `until` is by the clock that `explain` is given. */
  limited(model: string, until: number): void {
    this.#reach('limit', (clock) => {
      const wall = wallOf(clock);
      return `${model} is limited until ${untilText(wall + until - clock.now(), wall)}`;
    });
  }

  away({ message }: ProviderAway): void {
    this.#reach(PROVIDER_CAUSE, () => message);
  }

  /** The result with why it ended, and where that is known from when on it is worth resuming. */
  explain(result: AgentResult, clock: Clock): AgentResult {
    if (this.#cause === null || result.cause !== this.#cause) return result;
    return { ...result, message: this.#message(clock) };
  }

  #reach(cause: RunEndCause, message: (clock: Clock) => string): void {
    this.#cause = cause;
    this.#message = message;
    this.onReached?.(cause);
  }
}
