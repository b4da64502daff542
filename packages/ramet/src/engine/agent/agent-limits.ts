import type { DefaultIsolation } from '../../git/worktrees/worktree-settings.ts';
import type { ExecutorKind } from '../../schema/status.ts';

/** The hard caps on agents (LAUNCH-3) and what else settings say about them. The engine enforces them, not a prompt. */
export interface AgentLimits {
  /** How deep agents may nest; 1 allows children of the main agent only. */
  readonly depth: number;
  /** How many may be at work at once; more wait their turn. */
  readonly concurrent: number;
  /** How many agents models may ask for in a session. */
  readonly total: number;
  /** Turns of one agent. */
  readonly turns: number;
  /** Silence from which on an agent counts as stalled. */
  readonly stallMs: number;
  /** Bytes of a report that reach the parent. */
  readonly reportBytes: number;
  /** Whether an agent asked for without a type is a fork. */
  readonly fork: boolean;
  /** The executor for agents whose type sets none. */
  readonly executor: ExecutorKind;
  /** Which agents get a worktree without asking for one. */
  readonly isolation: DefaultIsolation;
}

export const DEFAULT_AGENT_LIMITS: AgentLimits = {
  depth: 3,
  concurrent: 20,
  total: 200,
  turns: 200,
  stallMs: 600_000,
  reportBytes: 8_192,
  fork: true,
  executor: 'in-process',
  isolation: 'off',
};
