/** Interrupted work: agents of an earlier process are resumed (AGENT-5), and a run that would wait too long is ended. */
import { closeCalls, hasOpenCalls, PROVIDER_CAUSE } from '../../engine/opening.ts';
import type { Agent, AgentFamily, AgentResult } from '../../engine/shapes.ts';
import { type Clock, wallOf } from '../../schema/clock.ts';
import type { ProviderAway } from '../../schema/errors.ts';
import { untilText } from '../../schema/until-text.ts';

export interface Revival {
  /** Prepares the main agent for a prompt; null resumes what was interrupted. */
  beforePrompt(prompt: string | null, signal: AbortSignal): Promise<void>;
  continueAgents(signal: AbortSignal): Promise<number>;
}

export function createRevival(parts: { agent: Agent; family: AgentFamily; isResumed: boolean }): Revival {
  const { agent, family } = parts;
  // Most sessions begin here, or never had any agents: then nothing is loaded and nothing read.
  let isDue = parts.isResumed && family.parts.lastNumber > 1;
  const revive = async (prompted: boolean, signal: AbortSignal): Promise<number> => {
    isDue = false;
    const { reviveAgents } = await import('../../engine/resume/resume-agents.ts');
    const count = await reviveAgents(family, agent, { prompted, signal });
    // It may have stopped halfway: the next one takes the rest.
    isDue = signal.aborted;
    return count;
  };
  return {
    async beforePrompt(prompt, signal) {
      // Calls that wait for agents are left open by an interruption in this process too.
      if (isDue || (prompt === null && hasOpenCalls(agent))) await revive(prompt !== null, signal);
      if (prompt !== null) await closeCalls(agent);
    },
    continueAgents: async (signal) => (isDue ? revive(false, signal) : 0),
  };
}

/** The reason of the aborted signal, and so the cause with which its agents end. */
type RunEndCause = 'limit' | typeof PROVIDER_CAUSE;

/**
 * Interrupts all work when a provider limits requests, or is away, for longer than the session may wait (settings
 * `limits.waitSeconds`, `limits.outageSeconds`). It can be resumed.
 */
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

  /** The result with the reason and, if known, when to resume. */
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
