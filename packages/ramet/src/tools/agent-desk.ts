/** What a tool may ask of the engine about other agents; the engine brings it in the tool's context. */

import type { ImageBlock, TextBlock } from '../schema/content.ts';
import type { BudgetLimits, CoordinatorPhase, Effort } from '../schema/status.ts';
import type { TeamTaskState } from '../schema/team.ts';

/**
 * The Agent tool's input. Written out, since an exported type cannot be inferred here; the compiler compares the two.
 */
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

/** Rules of a skill that an agent carries out, as they are written. */
export interface SkillRules {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

export interface SkilledRequest extends SpawnRequest {
  /** Of the skill that it is to carry out; no model asks for them. */
  rules?: SkillRules | undefined;
}

export interface AgentDesk {
  /** Resolves with the child's report, or at once for one in the background. */
  spawn(request: SkilledRequest): Promise<ToolOutcome>;
  /** To a running agent, or to one that has ended and is continued. */
  send(to: string, message: string): Promise<ToolOutcome>;
  /**
   * How the agent is and, once it has ended, its report; `all` means the caller's own. Null if no such agent exists.
   */
  look(id: string, wait: { block: boolean; timeoutMs: number }): Promise<ToolOutcome | null>;
  stop(id: string): Promise<ToolOutcome | null>;
  /** The task list of the team. Its tools run in the process of the host. */
  tasks?: TaskDesk;
  /** Of a session with a coordinator. Its tools run in the process of the host. */
  coordination?: CoordinationDesk;
  plans?: PlanDesk;
}

/** What the agents of a session with a coordinator may ask for (COORD-1). */
export interface CoordinationDesk {
  /** Goes to another phase; the coordinator alone does. */
  change(to: CoordinatorPhase, note: string): Promise<ToolOutcome>;
  /** Writes a file of the scratchpad. */
  write(file: string, text: string, append: boolean): Promise<ToolOutcome>;
}

/** Plans of members that must plan first (TEAM-4). */
export interface PlanDesk {
  submit(plan: string): Promise<ToolOutcome>;
  answer(answer: { member: string; approve: boolean; feedback?: string | undefined }): Promise<ToolOutcome>;
}

/** What a member of a team may do with the team's tasks (TEAM-3). */
export interface TaskDesk {
  create(task: {
    subject: string;
    description: string;
    blocked_by?: number[] | undefined;
    owner?: string | undefined;
  }): Promise<ToolOutcome>;
  get(task: number): Promise<ToolOutcome>;
  list(): Promise<ToolOutcome>;
  update(change: TaskUpdate): Promise<ToolOutcome>;
}

export interface TaskUpdate {
  task: number;
  status?: TeamTaskState | undefined;
  subject?: string | undefined;
  description?: string | undefined;
  add_blocked_by?: number[] | undefined;
  owner?: string | undefined;
  evidence?: string | undefined;
  note?: string | undefined;
}

/** What a tool call comes to. An expected failure is an outcome with `isError`, not a throw. */
export interface ToolOutcome {
  content: string | (TextBlock | ImageBlock)[];
  isError?: boolean;
  /** It did not run, since it was not permitted. */
  isDenied?: boolean;
  /** Why it was refused, by permission or by a fence: equal refusals are counted (FORK-4). */
  refusal?: string;
  /** It is no answer yet: the agent that the call waits for was interrupted together with the caller. */
  isOpen?: boolean;
  /** An interruption came before it did anything. */
  isNotBegun?: true;
  /** How long it waited to be permitted: that is no part of what it took. */
  waitedMs?: number;
}

export function failure(content: string): ToolOutcome {
  return { content, isError: true };
}
