/**
 * Hosts agents in this process: the same loop as the main agent's, its events handed on. What an agent is and
 * may do comes with the agent itself, never from ambient state.
 */
import type { AgentExecutor } from '../engine/agent/executor.ts';
import { runAgent } from '../engine/loop/loop.ts';
import { drain } from '../schema/generators.ts';

export const inProcess: AgentExecutor = {
  name: 'in-process',
  run: (agent, { signal, onEvent }) => drain(runAgent(agent, { signal }), onEvent),
};
