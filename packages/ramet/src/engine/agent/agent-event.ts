/**
 * What a running agent tells its watchers, with content in it. All of it goes into one sink, in order; views and
 * `stream-json` are made of it.
 *
 * 1. Most of it is on record: then the fields are those of the recorded event, and `liveEvent` alone gives it its name here.
 * 2. Deltas are told and not recorded.
 * 3. The rest has a record that says less, or at another time: a call is told before it is permitted, the start of a child
 *    also when it is resumed, its end with its result.
 */
import type { WorktreeResult } from '../../git/worktrees/workspace/agent-workspace.ts';
import type { AssistantBlock, OtherBlock, ToolResultBlock, ToolUseBlock } from '../../schema/content.ts';
import type { EventOf } from '../../schema/events.ts';
import type { AgentStatus } from '../../schema/status.ts';
import type { CallDetails } from '../../schema/tool-access.ts';
import type { Usage } from '../../schema/usage.ts';

const LIVE_NAMES = {
  'request.failed': 'request_failed',
  'warning.raised': 'warning',
  'status.changed': 'status_changed',
  'progress.reported': 'progress',
  'agent.stalled': 'stalled',
} as const;

/** Recorded events that are told as they are. */
export type ToldRecord = EventOf<keyof typeof LIVE_NAMES>;

type LiveOf<Recorded> = Recorded extends ToldRecord
  ? Omit<Recorded, 'type'> & { type: (typeof LIVE_NAMES)[Recorded['type']] }
  : never;

export type AgentEvent =
  | LiveOf<ToldRecord>
  | LiveResponse
  | { type: 'text_delta'; text: string }
  | { type: 'thinking_delta'; text: string }
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
  | { type: 'agent_ended'; result: AgentResult }
  | { type: 'compacted'; trigger: CompactionTrigger; tokensBefore: number; tokensAfter: number };

/** `response.completed` with the blocks that the record names by digest. */
export type LiveResponse = Omit<EventOf<'response.completed'>, 'type' | 'blocks'> & {
  type: 'assistant';
  blocks: readonly (AssistantBlock | OtherBlock)[];
};

export function liveEvent(event: ToldRecord): LiveOf<ToldRecord> {
  // The table has the name of each.
  return { ...event, type: LIVE_NAMES[event.type] } as LiveOf<ToldRecord>;
}

export function liveResponse(
  event: EventOf<'response.completed'>,
  blocks: LiveResponse['blocks'],
): LiveResponse {
  return { ...event, type: 'assistant', blocks };
}

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
