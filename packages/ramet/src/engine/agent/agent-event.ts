/**
 * What a running agent tells its watchers. There is one vocabulary: an event is told when it is recorded, with all fields of
 * its record. `LIVE_NAMES` says which events are told and what each is called here. `Agent.record` is the only one that
 * tells them, into the one sink of its session.
 *
 * 1. Where a record names content (a response's blocks, a call, its result), the event has the content in its place.
 * 2. Deltas, and the progress of a call, are told and not recorded.
 * 3. The start and the end of a child are told when its life in this process begins and ends (`children/run-child.ts`):
 *    a resumed child begins again, and a child that has ended has given its worktree back.
 */
import type { WorktreeResult } from '../../git/worktrees/workspace/agent-workspace.ts';
import type { AssistantBlock, OtherBlock, ToolResultBlock, ToolUseBlock } from '../../schema/content.ts';
import type { EventOf, JournalEvent } from '../../schema/events.ts';
import type { AgentStatus } from '../../schema/status.ts';
import type { CallDetails } from '../../schema/tool-access.ts';
import type { Usage } from '../../schema/usage.ts';

const LIVE_NAMES = {
  'response.completed': 'assistant',
  'request.failed': 'request_failed',
  'warning.raised': 'warning',
  'status.changed': 'status_changed',
  'progress.reported': 'progress',
  'agent.stalled': 'stalled',
  'tool.started': 'tool_started',
  'tool.completed': 'tool_completed',
  'tool.withdrawn': 'tool_withdrawn',
  'conversation.replaced': 'conversation_replaced',
} as const;

type LiveNames = typeof LIVE_NAMES & { 'agent.started': 'agent_started'; 'agent.ended': 'agent_ended' };

interface LiveCall {
  call: ToolUseBlock;
  /** What its tool says about it, for views. */
  details?: CallDetails | undefined;
}

/** What an event has in place of what its record names, or besides it. */
interface LiveContents {
  'response.completed': { blocks: readonly (AssistantBlock | OtherBlock)[] };
  'tool.started': LiveCall;
  'tool.completed': LiveCall & { result: ToolResultBlock };
  'tool.withdrawn': LiveCall;
  'agent.started': {
    /** Its progress line when it was interrupted. */
    progress?: string;
    /** What the resumed work had taken before; absent for new work. */
    carried?: { turns: number; usage: Usage; costUsd: number | null };
  };
  'agent.ended': AgentResult;
}

type ContentOf<Type extends keyof LiveNames> = Type extends keyof LiveContents ? LiveContents[Type] : unknown;

type LiveOf<Type extends keyof LiveNames> = Type extends keyof LiveNames
  ? Plain<{ type: LiveNames[Type] } & Omit<EventOf<Type>, 'type' | keyof ContentOf<Type>> & ContentOf<Type>>
  : never;

/** One object type, so that editors and messages show its fields. */
type Plain<Value> = { [Key in keyof Value]: Value[Key] };

export type AgentEvent =
  | LiveOf<keyof LiveNames>
  /** A call under way says how far it is: told and not recorded. */
  | { type: 'tool_progress'; call: ToolUseBlock; text: string }
  | { type: 'text_delta'; text: string }
  | { type: 'thinking_delta'; text: string };

/** The content that a record names. An event that lacks what its record names is not told. */
export type NamedContent = Partial<LiveContents['response.completed'] & LiveContents['tool.completed']>;

/** Records that name no content: all of them are told as they are. */
type PlainRecord = Exclude<keyof typeof LIVE_NAMES, keyof LiveContents>;

/** A recorded event as it is told; null for one that is not told. */
export function liveEvent<Type extends PlainRecord>(event: EventOf<Type>): LiveOf<Type>;
export function liveEvent(event: JournalEvent, named?: NamedContent): AgentEvent | null;
export function liveEvent(event: JournalEvent, named?: NamedContent): AgentEvent | null {
  if (!isTold(event)) return null;
  if (named === undefined && namesContent(event)) return null;
  // The caller has what the record names; the table has the name of each.
  return { ...event, ...named, type: LIVE_NAMES[event.type] } as AgentEvent;
}

function isTold(event: JournalEvent): event is EventOf<keyof typeof LIVE_NAMES> {
  return Object.hasOwn(LIVE_NAMES, event.type);
}

function namesContent({ type }: JournalEvent): boolean {
  return type === 'response.completed' || type.startsWith('tool.');
}

/** The start of a child as it is told. */
export function startedEvent(
  start: EventOf<'agent.started'>,
  more: LiveContents['agent.started'],
): LiveOf<'agent.started'> {
  return { ...start, ...more, type: 'agent_started' };
}

/** Takes events as they happen. It returns at once: who reads them, and how fast, is nothing to the agent. */
export type EventSink = (event: AgentEvent) => void;

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
