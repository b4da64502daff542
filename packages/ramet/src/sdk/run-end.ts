/**
 * Ends whatever is under way when a provider lets nobody send, or is away, for longer than the session is to wait
 * (settings `limits.waitSeconds`, `limits.outageSeconds`): it is interrupted and can be resumed.
 */
import type { AgentResult } from '../engine/agent-event.ts';
import { PROVIDER_CAUSE } from '../engine/provider-wait.ts';
import type { ProviderAway } from '../schema/errors.ts';
import { untilText } from '../schema/until-text.ts';

/** Why a signal is aborted then, and so the cause of how its agents ended. */
export type RunEndCause = 'limit' | typeof PROVIDER_CAUSE;

export class RunEnd {
  #cause: RunEndCause | null = null;
  #message: (now: number) => string = () => '';
  /** Ends whatever is under way. */
  onReached: ((cause: RunEndCause) => void) | null = null;

  limited(model: string, until: number): void {
    this.#reach('limit', (now) => `${model} is limited until ${untilText(until, now)}`);
  }

  away({ message }: ProviderAway): void {
    this.#reach(PROVIDER_CAUSE, () => message);
  }

  /** The result with why it ended, and where that is known from when on it is worth resuming. */
  explain(result: AgentResult, now: number): AgentResult {
    if (this.#cause === null || result.cause !== this.#cause) return result;
    return { ...result, message: this.#message(now) };
  }

  #reach(cause: RunEndCause, message: (now: number) => string): void {
    this.#cause = cause;
    this.#message = message;
    this.onReached?.(cause);
  }
}
