/** Ends a run when a usage limit lasts longer than the run is to wait (setting `limits.waitSeconds`): it is interrupted. */
import type { AgentResult } from '../engine/agent-event.ts';
import { untilText } from '../schema/until-text.ts';

/** Why a signal is aborted then, and so the cause of how its agents ended. */
export const LIMIT_CAUSE = 'limit';

export class LimitEnd {
  #limit: { model: string; until: number } | null = null;
  /** Ends whatever is under way. */
  onReached: (() => void) | null = null;

  reached(model: string, until: number): void {
    this.#limit = { model, until };
    this.onReached?.();
  }

  /** The result with the time from which on it is worth going on. */
  explain(result: AgentResult, now: number): AgentResult {
    if (this.#limit === null || result.cause !== LIMIT_CAUSE) return result;
    const { model, until } = this.#limit;
    return { ...result, message: `${model} is limited until ${untilText(until, now)}` };
  }
}
