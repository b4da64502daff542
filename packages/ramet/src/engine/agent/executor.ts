/**
 * The port through which an agent is hosted. In this process its loop runs on the agent itself, so nothing is copied.
 * Anywhere else it runs on the agent's state as a value and on a line to the host (`executors/process/agent-place.ts`);
 * this agent then follows what is recorded there.
 */
import type { Agent } from './agent.ts';
import type { AgentResult, EventSink } from './agent-event.ts';

export interface HostOptions {
  signal: AbortSignal;
  emit: EventSink;
}

export interface AgentExecutor {
  readonly name: string;
  /** Runs the agent to its end. Never rejects: the result says how it ended. */
  run(agent: Agent, options: HostOptions): Promise<AgentResult>;
}
