/**
 * Hosts agents in this process: the same loop as the main agent's. What an agent is and
 * may do comes with the agent itself, never from ambient state.
 */
import type { AgentExecutor } from '../engine/agent/executor.ts';
import { runAgent } from '../engine/loop/loop.ts';

export const inProcess: AgentExecutor = {
  name: 'in-process',
  run: runAgent,
};
