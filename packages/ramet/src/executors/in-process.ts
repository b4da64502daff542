/**
 * Hosts agents in this process: the same loop as the main agent's, its events handed on. What an agent is and
 * may do comes with the agent itself, never from ambient state.
 */
import type { AgentExecutor } from '../engine/executor.ts';
import { runAgent } from '../engine/loop.ts';

export const inProcess: AgentExecutor = {
  name: 'in-process',
  async run(agent, { signal, onEvent }) {
    const events = runAgent(agent, { signal });
    for (;;) {
      const next = await events.next();
      if (next.done) return next.value;
      onEvent(next.value);
    }
  },
};
