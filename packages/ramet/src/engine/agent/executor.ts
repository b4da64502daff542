/**
 * The port through which an agent is hosted: the agent as a value, and its host. A loop in this process shares the host's
 * own agent, so nothing is copied. Anywhere else it runs on an agent that is made of the value and asks the host over a
 * line (`executors/process/agent-place.ts`); the host's agent then follows what is recorded there (`engine/host-duties.ts`).
 */
import type { RunHost } from '../host-duties.ts';
import type { AgentSnapshot } from './agent-content.ts';
import type { AgentResult } from './agent-event.ts';

export interface ExecutorRunOptions {
  signal: AbortSignal;
}

export interface AgentExecutor {
  readonly name: string;
  /**
   * Runs the agent from that value to its end. The result says how it ended, whatever happens: it rejects only for a value
   * that its host has left behind.
   */
  run(value: AgentSnapshot, host: RunHost, options: ExecutorRunOptions): Promise<AgentResult>;
}
