/**
 * The port through which an agent is hosted: the agent as a value, and its host. A loop in this process shares the host's
 * own agent, so nothing is copied. Anywhere else it runs on an agent that is made of the value and asks the host over a
 * line (`executors/process/agent-place.ts`); the host's agent then follows what is recorded there (`engine/host-duties.ts`).
 */
import type { AgentWorkspace } from '../../git/worktrees/workspace/agent-workspace.ts';
import type { Agent, AgentValue } from './agent.ts';
import type { AgentResult } from './agent-event.ts';
import type { AgentSpec } from './runtime.ts';

/** An agent as a value: who it is, its state, and the bytes that the state names. */
export interface AgentSnapshot extends AgentValue {
  readonly spec: AgentSpec;
  /** What its host can do with the worktree that it is in; null for none. */
  readonly workspace: AgentWorkspace | null;
}

export interface ExecutorRunOptions {
  signal: AbortSignal;
}

/** The host of one agent, the same one for all its runs: it has the agent's record, its bill, its mail and its children. */
export interface AgentResidence {
  /** The agent that the host keeps. Throws when it is no longer what the value says. */
  resident(value: AgentSnapshot): Agent;
}

export interface AgentExecutor {
  readonly name: string;
  /**
   * Runs the agent from that value to its end. The result says how it ended, whatever happens: it rejects only for a value
   * that its host has left behind.
   */
  run(value: AgentSnapshot, host: AgentResidence, options: ExecutorRunOptions): Promise<AgentResult>;
}

/** The agent as it is on record now. No bytes are copied. */
export function snapshotOf({ spec, state, content, directory }: Agent): AgentSnapshot {
  return {
    spec,
    workspace: directory.workspace,
    state,
    conversation: content.conversation,
    prompts: content.prompts,
    mail: content.mail.flatMap(({ blocks }) => blocks),
    results: [...content.results.values()],
  };
}

export function hostOf(agent: Agent): AgentResidence {
  return {
    resident(value) {
      if (value.state === agent.state) return agent;
      throw new Error(`${agent.spec.id} is no longer what it is to run from`);
    },
  };
}
