/** What a tool may ask of the engine about other agents; the engine brings it in the tool's context. */
import type { BudgetLimits, Effort } from '../schema/status.ts';
import type { ToolOutcome } from './outcome.ts';

/** The Agent tool's input. Written out, since an exported type cannot be inferred here; the compiler compares the two. */
export interface SpawnRequest {
  prompt: string;
  description: string;
  subagent_type?: string | undefined;
  model?: string | undefined;
  /** How hard it is to think; its type's, or as its parent does up to a cap, when absent (RES-9). */
  effort?: Effort | undefined;
  run_in_background?: boolean | undefined;
  name?: string | undefined;
  /** It gets a worktree of its own, on a branch of its own (EXEC-5). */
  isolation?: 'worktree' | undefined;
  schema?: Record<string, unknown> | undefined;
  /** What must come of it, read by the engine before it counts as done (AGENT-6). */
  expect?:
    | {
        /** Made or changed. */
        files?: string[] | undefined;
        /** A command that must succeed. */
        check?: string | undefined;
        /** A new commit. */
        commit?: boolean | undefined;
      }
    | undefined;
  /** What it may spend by itself (RES-10); its ancestors' limits hold in any case. */
  budget?: BudgetLimits | undefined;
  /** Responses before its closing turn. */
  maxTurns?: number | undefined;
}

export interface AgentDesk {
  /** Resolves with the child's report, or at once for one in the background. */
  spawn(request: SpawnRequest): Promise<ToolOutcome>;
  /** To a running agent, or to one that has ended and is continued. */
  send(to: string, message: string): Promise<ToolOutcome>;
  /** How the agent is and, once it has ended, its report; `all` means the caller's own. Null when there is none. */
  look(id: string, wait: { block: boolean; timeoutMs: number }): Promise<ToolOutcome | null>;
  stop(id: string): Promise<ToolOutcome | null>;
}
