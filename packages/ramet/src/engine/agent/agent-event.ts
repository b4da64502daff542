/**
 * What a running agent tells its watchers: the live counterpart of the journal, with content in it. All of it goes into
 * one sink, in order; views and `stream-json` are made of it.
 */
import type { WorktreeResult } from '../../git/worktrees/workspace/agent-workspace.ts';
import type { AssistantBlock, OtherBlock, ToolResultBlock, ToolUseBlock } from '../../schema/content.ts';
import type { AgentStatus } from '../../schema/status.ts';
import type { CallDetails } from '../../schema/tool-access.ts';
import type { Usage } from '../../schema/usage.ts';

export type AgentEvent =
  | { type: 'text_delta'; text: string }
  | { type: 'thinking_delta'; text: string }
  | {
      type: 'assistant';
      messageId: string;
      model: string;
      stopReason: string;
      blocks: readonly (AssistantBlock | OtherBlock)[];
      usage: Usage;
      costUsd: number | null;
    }
  | { type: 'tool_started'; call: ToolUseBlock; details?: CallDetails }
  | {
      type: 'tool_completed';
      call: ToolUseBlock;
      result: ToolResultBlock;
      durationMs: number;
      /** Set when it was not permitted: the result says why. */
      denied?: true;
      /** What its tool says about it, for views. */
      details?: CallDetails;
    }
  | { type: 'request_failed'; attempt: number; code: string; message: string; retryInMs: number | null }
  | { type: 'warning'; code: string; message: string }
  | {
      type: 'agent_started';
      agentType: string;
      name: string | null;
      description: string;
      background: boolean;
      model: string;
      /** Its own, where it has one. */
      worktree?: { path: string; branch: string | null };
      /** Its progress line when it was interrupted. */
      progress?: string;
      /** What the resumed work had taken before; absent for new work. */
      carried?: { turns: number; usage: Usage; costUsd: number | null };
    }
  /**
   * `until` is when it will continue, in milliseconds since the epoch, if known, and `leftMs` how long that is.
   */
  | { type: 'status_changed'; status: AgentStatus; cause: string | null; until?: number; leftMs?: number }
  /** A child's progress in one line. */
  | { type: 'progress'; line: string }
  | { type: 'stalled'; silentMs: number }
  | { type: 'agent_ended'; result: AgentResult }
  | { type: 'compacted'; trigger: CompactionTrigger; tokensBefore: number; tokensAfter: number };

/** Takes events as they happen. It returns at once: who reads them, and how fast, is nothing to the agent. */
export type EventSink = (event: AgentEvent) => void;

/** Why a conversation is compacted: it is long, it was too long for the model, or the user asked. */
export type CompactionTrigger = 'threshold' | 'overflow' | 'request';

/** How an agent ended. `cause` is a stable word, `message` a line for people. */
export interface AgentResult {
  status: AgentStatus;
  cause: string | null;
  message: string | null;
  /** The text of the last answer: the report. */
  text: string;
  turns: number;
  /** With that of its children. */
  usage: Usage;
  costUsd: number | null;
  durationMs: number;
  /** The model it ended on. */
  model?: string | undefined;
  /** Its own worktree, and what happened to it. */
  worktree?: WorktreeResult | undefined;
  /** A line for its parent, such as that another kind of agent would have cost less. */
  advice?: string | undefined;
}
