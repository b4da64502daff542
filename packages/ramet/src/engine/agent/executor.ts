/** The port through which an agent is hosted: in this process, in one of its own, elsewhere. */
import type { Agent } from './agent.ts';
import type { AgentEvent, AgentResult } from './agent-event.ts';

export interface HostOptions {
  signal: AbortSignal;
  onEvent: (event: AgentEvent) => void;
}

export interface AgentExecutor {
  readonly name: string;
  /** Runs the agent to its end. Never rejects: the result says how it ended. */
  run(agent: Agent, options: HostOptions): Promise<AgentResult>;
}
