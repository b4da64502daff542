/**
 * Everything that can be recorded. Events are append-only and versioned by the journal's schema; names are
 * noun-verb. A digest names bytes in the journal's block store: conversation content is never inlined here, so
 * what was sent can be sent again byte for byte.
 *
 * Invariants
 * 1. `request.started` is committed before its bytes are sent, `tool.started` before a tool changes anything.
 * 2. A response and the assistant message it adds are one event: both exist or neither.
 * 3. Folding the events of a session in order gives every view of it; nothing else is consulted.
 */
import type { AgentLifecycleEvent } from './agent-events.ts';
import type { Role, ThinkingConfig } from './content.ts';
import type { Breakpoint, ConversationReplaced } from './conversation-events.ts';
import type { FileEvent, ReplacedFile } from './file-events.ts';
import type { GuardsNoted, HooksRan } from './hook-events.ts';
import type { AgentId, Digest } from './ids.ts';
import type { OperatorEvent } from './operator-events.ts';
import type { GivenRights, PermissionMode, TodoItem } from './status.ts';
import type { Usage } from './usage.ts';
import type { WorktreeEvent } from './worktree-events.ts';

export type { AgentOrigin, RecordedEvidence, RecordedServers, ServerRights } from './agent-events.ts';
export type { Breakpoint, CompactionTrigger, TakenOver } from './conversation-events.ts';
export type { ReplacedFile } from './file-events.ts';
export type { HookVerdict, NotedGuard } from './hook-events.ts';
export type { Digest } from './ids.ts';
export type { RecordedWorktree } from './worktree-events.ts';

/** What the cache map expects of a request (MODEL-4). */
export type CacheState = 'cold' | 'writing' | 'warm' | 'below minimum';

/** What a request is for, when it is not a turn of the conversation. */
export type RequestSource = 'compaction' | 'refresh';

interface SessionStarted {
  type: 'session.started';
  version: string;
  cwd: string;
  /** The working tree's root; null outside git. */
  repository: string | null;
  /** What was checked out; null for no branch. Absent outside git, where git did not say, and in journals of earlier versions. */
  branch?: string | null;
  /** The session of the run of tasks that its main agent watches; absent for most. */
  watches?: string;
  /** Its main agent coordinates workers (COORD-1). */
  coordinator?: true;
  /** It is no conversation of a person: nobody resumes it. */
  housekeeping?: true;
  /** By flags or a program, for as long as the session is resumed; absent for none. */
  given?: GivenRights;
}

interface SessionResumed {
  type: 'session.resumed';
  version: string;
  cwd: string;
  /** Besides what it was given before. */
  given?: GivenRights;
}

/** A resumed session keeps its mode unless it is told another. */
interface PermissionChanged {
  type: 'permission.changed';
  mode: PermissionMode;
}

/** A person is asked whether a call may run; `summary` is what they read of it, without secrets. */
interface PermissionAsked {
  type: 'permission.asked';
  call: string;
  tool: string;
  summary: string;
  reason: string;
}

interface PermissionAnswered {
  type: 'permission.answered';
  call: string;
  /** `policy`: rules or a mode that came while it was open allow it, and nobody had to answer. */
  answer: 'once' | 'always' | 'denied' | 'policy';
  /** The rules that hold for the rest of the session, after `always`. */
  rules: string[];
  /** Why it was denied; null when it was allowed. */
  reason: string | null;
  /** What the call runs with instead of its own input, where the one who answered changed it. */
  updatedInput?: Record<string, unknown>;
}

interface PrefixFrozen {
  type: 'prefix.frozen';
  model: string;
  thinking: ThinkingConfig | null;
  tools: Digest[];
  system: Digest[];
}

interface MessageAppended {
  type: 'message.appended';
  role: Role;
  /**
   * `delivery`: what other agents had to say, and nothing else. `adopted`: the answer of an agent that has done in advance what
   * the prompt before it asks for. `search_lost`: results for searches of the provider that were cut off. These two have the role
   * `assistant`.
   */
  cause: 'prompt' | 'tool_results' | 'notice' | 'delivery' | 'adopted' | 'search_lost';
  blocks: Digest[];
  /** How many leading blocks other runs in the same place share: a breakpoint may stand after them. */
  shared: number;
  /** Items of `message.received` that it holds. */
  delivers?: string[];
  /** The last block is what a person typed, word by word. */
  typed?: true;
  /** Whose answer was adopted, and the files that move in with it: both are on record, or neither. A `files.settled` follows. */
  adopted?: AdoptedWork;
}

export interface AdoptedWork {
  agent: AgentId;
  files: ReplacedFile[];
}

interface RequestStarted {
  type: 'request.started';
  request: string;
  turn: number;
  attempt: number;
  model: string;
  /** How many messages of the conversation it carries. */
  messages: number;
  maxTokens: number;
  breakpoints: Breakpoint[];
  /** Chain digest of the whole prompt: equal digests mean equal prompts. */
  prompt: Digest;
  cache: CacheState;
  /** What it costs at most; null when the model has no known price. */
  atMostUsd?: number | null;
  source?: RequestSource;
  /** Blocks of a last user message that only this request carries: it is no part of the conversation. */
  aside?: Digest[];
  /** Blocks that only this request carries in the place of those of a message, as many. */
  instead?: { message: number; blocks: Digest[] }[];
}

interface RequestFailed {
  type: 'request.failed';
  request: string;
  attempt: number;
  code: string;
  status: number | null;
  message: string;
  /** Null when it is not tried again. */
  retryInMs: number | null;
  /** What the provider had counted before it went wrong; null when it said nothing. */
  usage: Usage | null;
  /** Null when the cost of that is unknown; 0 when nothing was counted. */
  costUsd: number | null;
  /** Where the cost is unknown: what is known of it, if that is more than nothing. */
  atLeastUsd?: number;
  /** No answer came, and the provider may still have counted it. */
  mayCost?: true;
}

interface ResponseCompleted {
  type: 'response.completed';
  request: string;
  messageId: string;
  model: string;
  stopReason: string;
  blocks: Digest[];
  /** False when the response was billed but must not enter the conversation (refusal, cut tool call). */
  kept: boolean;
  usage: Usage;
  /** Null when the model has no known price, or a count is not known. */
  costUsd: number | null;
  /** Where the cost is unknown: what is known of it, if that is more than nothing. */
  atLeastUsd?: number;
  firstTokenMs: number;
  durationMs: number;
  /** Rate-limit headers as they came, without `anthropic-ratelimit-`. */
  rate: Record<string, string>;
  source?: RequestSource;
  /** Of an agent's first response: what it read that others had written, and what that saved; null if unknown. */
  reused?: { tokens: number; savedUsd: number | null };
}

interface ToolStarted {
  type: 'tool.started';
  call: string;
  name: string;
}

interface ToolCompleted {
  type: 'tool.completed';
  call: string;
  name: string;
  isError: boolean;
  /** The tool_result block, so that a crash before the results are in the conversation loses none. */
  result: Digest;
  durationMs: number;
  /** What kind of call it was, when it was refused: equal ones are counted (FORK-4). */
  refused?: string;
  /** It was not permitted: the result says why. Absent in journals of earlier versions. */
  denied?: true;
}

/** The agent's list of its own work, whole: the last one counts. */
interface TodosChanged {
  type: 'todos.changed';
  todos: TodoItem[];
}

/** A command continues in the background. The call says which. */
interface BackgroundTaskStarted {
  type: 'background_task.started';
  task: string;
  call: string;
  pid: number;
}

/** Without one the task's end is unknown: the process that watched it died first. */
interface BackgroundTaskEnded {
  type: 'background_task.ended';
  task: string;
  code: number | null;
  signal: string | null;
  /** Who stopped it; null when it ended by itself. */
  stoppedBy: 'TaskStop' | 'output limit' | 'agent end' | null;
}

interface WarningRaised {
  type: 'warning.raised';
  code: string;
  message: string;
}

export type JournalEvent =
  | SessionStarted
  | SessionResumed
  | AgentLifecycleEvent
  | PermissionChanged
  | PermissionAsked
  | PermissionAnswered
  | PrefixFrozen
  | MessageAppended
  | ConversationReplaced
  | RequestStarted
  | RequestFailed
  | ResponseCompleted
  | ToolStarted
  | ToolCompleted
  | HooksRan
  | GuardsNoted
  | FileEvent
  | WorktreeEvent
  | OperatorEvent
  | TodosChanged
  | BackgroundTaskStarted
  | BackgroundTaskEnded
  | WarningRaised;

export type EventOf<Type extends JournalEvent['type']> = Extract<JournalEvent, { type: Type }>;

/** An event with its place in the journal. `agent` is null for what concerns the session as a whole. */
export interface RecordedEvent {
  seq: number;
  time: number;
  agent: string | null;
  event: JournalEvent;
}
