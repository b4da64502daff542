/**
 * Hosts agents in this process: the same loop as the main agent's, on the host's own agent, which has the bytes of the
 * value already. What an agent is and may do comes with the agent itself, never from ambient state.
 */
import type { AgentExecutor } from '../engine/agent/executor.ts';

export const inProcess: AgentExecutor = {
  name: 'in-process',
  run: async (value, host, options) => host.runHere(value, options),
};
