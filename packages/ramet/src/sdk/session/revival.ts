/** When the agents of an earlier process go on (AGENT-5): before the first prompt, or when interrupted work is gone on with. */

import { closeCalls } from '../../engine/opening.ts';
import type { Agent, AgentFamily } from '../../engine/shapes.ts';

export interface Revival {
  /** Puts the main agent where the prompt finds it; null goes on with what was interrupted. */
  beforePrompt(prompt: string | null, signal: AbortSignal): Promise<void>;
  continueAgents(signal: AbortSignal): Promise<number>;
}

export function createRevival(parts: {
  agent: Agent;
  family: AgentFamily;
  isResumed: boolean;
  endIsMissing?: boolean;
}): Revival {
  const { agent, family, endIsMissing = false } = parts;
  // Most sessions begin here, or never had any agents: then nothing is loaded and nothing read.
  let isDue = parts.isResumed && family.parts.lastNumber > 1;
  const revive = async (prompted: boolean, signal: AbortSignal): Promise<number> => {
    isDue = false;
    const { reviveAgents } = await import('../../engine/resume/resume-agents.ts');
    const count = await reviveAgents(family, agent, { prompted, endIsMissing, signal });
    // It may have stopped halfway: the next one takes the rest.
    isDue = signal.aborted;
    return count;
  };
  return {
    async beforePrompt(prompt, signal) {
      // Calls that wait for agents are left open by an interruption in this process too.
      if (isDue || (prompt === null && agent.openCalls !== null)) await revive(prompt !== null, signal);
      if (prompt !== null) await closeCalls(agent);
    },
    continueAgents: async (signal) => (isDue ? revive(false, signal) : 0),
  };
}
