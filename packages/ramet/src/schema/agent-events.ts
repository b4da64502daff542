/**
 * The life of agents as it is recorded (AGENT-4): asked for, queued, launched, told, waiting, ended. What they say and
 * do is in `events.ts`, which joins these to everything that can be recorded.
 */
import type { CoordinatorEvent } from './coordinator-events.ts';
import type { Digest } from './ids.ts';
import type {
  AgentStatus,
  BackgroundSource,
  BudgetLimits,
  CoordinatorPhase,
  LaunchMode,
  PermissionMode,
} from './status.ts';
import type { RecordedWorktree } from './worktree-events.ts';

/** How a child was asked for. The main agent has none. */
export interface AgentOrigin {
  /** A fork continues its parent's conversation; a fresh agent begins with its prompt. */
  kind: 'fork' | 'fresh';
  /** The tool call that asked for it; null when the library did. */
  call: string | null;
  /** What it is for, in a few words. */
  description: string;
  background: boolean;
  /** How many agents stand between it and the user; 1 for a child of the main agent. */
  depth: number;
  /** It cannot be resumed: it is in the journal and in no transcript (FORK-3). */
  skipTranscript?: true;
  /** It works in the background for this, unasked: nobody waits for it or learns of its end (BG-1). */
  source?: BackgroundSource;
  /** It cannot be resumed either: what narrowed its rights was a function of the program that started it. */
  narrowed?: true;
  /** Nor can this one: a repair could not save its start, and wrote this in its place. Nothing else here is known. */
  startLost?: true;
  /** It is a member of the session's team, by its name (TEAM-1). */
  member?: true;
  /** It is a worker of a coordinator, and began in this phase (COORD-1). */
  phase?: CoordinatorPhase;
  /** It runs in a process of its own (EXEC-2). */
  executor?: 'process';
  /** It changes nothing, whatever its mode or its ancestors' allow (TYPE-2). */
  readOnly?: true;
  /** Which calls of its tools its type is for, as rules; `tools`: the only ones it may call, where its prompt has more. */
  toolLimits?: {
    readonly only: readonly string[];
    readonly never: readonly string[];
    readonly tools?: readonly string[] | undefined;
  };
  /** What it may use of MCP servers; absent for one that has none. */
  servers?: RecordedServers;
  /** Its type's hooks, which can refuse calls: it resumes with the same ones or not at all. */
  hooks?: Digest;
  /** It works in a worktree of its own (EXEC-5). */
  worktree?: RecordedWorktree;
  /**
   * What its report must be, and what must be there before it counts as done: a resumed agent is held to both.
   */
  schema?: Record<string, unknown>;
  evidence?: RecordedEvidence;
  /** Estimates: what a fork took over, and with what a fresh agent would have begun instead. */
  inheritedTokens?: number;
  freshTokens?: number;
}

/** The MCP servers of an agent, by the names that models know. */
export interface RecordedServers {
  readonly keys: readonly string[];
  /** Servers that its type, or that of an ancestor, writes down itself. */
  readonly written?: Readonly<Record<string, Digest>>;
  /** Absent when it may use every tool of them. */
  readonly rights?: ServerRights;
}

/** Which tools of servers the agents of a type may use. Names and patterns are whole: `mcp__server__tool`. */
export interface ServerRights {
  readonly never: readonly string[];
  /** Null for all. */
  readonly only: readonly string[] | null;
  /** Keys of servers that the type has besides its parent's: of those it may use all but `never`. */
  readonly own: readonly string[];
  /** Its parent's: what holds for everything that is not its own. */
  readonly above: ServerRights | null;
  /** What must allow a tool besides. */
  readonly also?: ServerRights;
}

/** What was expected of an agent, and what was there before it began (AGENT-6). */
export interface RecordedEvidence {
  expected: { files?: string[] | undefined; check?: string | undefined; commit?: boolean | undefined };
  /** Versions by absolute path; null where there was no file. */
  files: Record<string, string | null>;
  commit: string | null;
}

interface AgentStarted {
  type: 'agent.started';
  parent: string | null;
  agentType: string;
  name: string | null;
  model: string;
  permissionMode: PermissionMode;
  maxTurns: number;
  budget: BudgetLimits;
  origin?: AgentOrigin;
}

/** What an agent under way is doing; its end is `agent.ended`. */
interface StatusChanged {
  type: 'status.changed';
  status: 'queued' | 'running' | 'waiting' | 'blocked';
  /** One of `LIVE_CAUSES`, or of what earlier versions wrote; null when there is nothing to add. */
  cause: string | null;
  /** When it is expected to continue, in milliseconds since the epoch, if known: a limit has its time. */
  until?: number;
  /** How long that was then: a clock that is set later changes `until` and not this. Older records lack it. */
  leftMs?: number;
}

/** An agent resumes from its last complete turn: its process ended, or it was interrupted. */
interface AgentResumed {
  type: 'agent.resumed';
  /** Its status when it was resumed. */
  from: 'running' | 'interrupted';
}

/** A fork's conversation begins with these messages of its parent's (FORK-2). */
interface ConversationInherited {
  type: 'conversation.inherited';
  from: string;
  /** A block with the list of messages as `conversation.replaced` has it: siblings share it. */
  messages: Digest;
  /** Chain digest of the last inherited block. */
  prompt: Digest;
  /** How often calls were refused to its parent, where any were (FORK-4). */
  refusals?: { kind: string; count: number; toldBy: string | null }[];
}

/** When a child's first request may go, and why then (LAUNCH-1). */
interface LaunchDecided {
  type: 'launch.decided';
  mode: LaunchMode;
  /** `lead` writes what the others wait for; `follow` waits; `released` had waited and goes now. */
  choice: 'at_once' | 'lead' | 'follow' | 'released';
  why: string;
  /** Estimate of what it shares with others, and of the part that no cache holds. */
  sharedTokens: number;
  coldTokens: number;
}

/**
 * What happens to the agent's prefix in the cache while it waits, and why (FORK-7): it is read again before it expires,
 * left to expire and be written again, or written for an hour or for five minutes from now on.
 */
interface CacheKept {
  type: 'cache.kept';
  choice: 'refresh' | 'lapse' | 'hour' | 'minutes';
  why: string;
  /** Estimated length of the prefix. */
  tokens: number;
}

/** Something for the agent has come; it is told at its next tool boundary, once. */
interface MessageReceived {
  type: 'message.received';
  /** Unique in the session. */
  item: string;
  kind: 'notification' | 'message' | 'cancel';
  /** The agent it is from or about; null when it is a person's. */
  from: string | null;
  blocks: Digest[];
  /** The background tasks whose interruption it tells of. */
  tasks?: string[];
  /** Of a message of its team: the number that the record of teams has for it. */
  mail?: number;
}

/** It is not to be told any more: a tool's result has told it already, or who said it took it back. */
interface MessageTaken {
  type: 'message.taken';
  item: string;
  /** The call that told it; null when it was taken back. */
  call: string | null;
}

/** An agent in the foreground continues in the background. */
interface AgentDetached {
  type: 'agent.detached';
}

/** A child's progress in one line (RES-4). The last one counts. */
interface ProgressReported {
  type: 'progress.reported';
  line: string;
}

/**
 * The agent was resumed from a journal that had lost its end: each call of its last message may have begun, also one
 * without a `tool.started`.
 */
interface RecordShortened {
  type: 'record.shortened';
}

/** A call that was recorded as started did nothing before the run ended: it is to be made when the agent resumes. */
interface ToolWithdrawn {
  type: 'tool.withdrawn';
  call: string;
  name: string;
}

/** A refusal said how many tokens the context window of this model holds. */
interface WindowLearned {
  type: 'window.learned';
  model: string;
  tokens: number;
}

/** A compaction failed: no other is tried before the conversation is this long. */
interface CompactionPostponed {
  type: 'compaction.postponed';
  untilTokens: number;
}

/** The plan of a member that must plan first was answered: what it asked of models before an approval is the plan's cost. */
interface PlanChanged {
  type: 'plan.changed';
  plan: 'approved' | 'rejected';
  /** Who answered: `lead`; null for a person. */
  by: string | null;
}

/** Calls that rules refuse to the agent until its work on the prompt is over: a skill that it carries out says so. */
interface ToolsDenied {
  type: 'tools.denied';
  rules: readonly string[];
}

/** Nothing has happened for longer than the stall limit (AGENT-7). */
interface AgentStalled {
  type: 'agent.stalled';
  silentMs: number;
}

/** What a fork has cost, and what a fresh agent would have (its input; estimated). */
interface ForkCompared {
  type: 'fork.compared';
  forkTokens: number;
  freshTokens: number;
  forkUsd: number | null;
  freshUsd: number | null;
}

interface AgentEnded {
  type: 'agent.ended';
  status: AgentStatus;
  cause: string | null;
  message: string | null;
}

export type AgentLifecycleEvent =
  | AgentStarted
  | AgentResumed
  | StatusChanged
  | ConversationInherited
  | LaunchDecided
  | CacheKept
  | MessageReceived
  | MessageTaken
  | AgentDetached
  | ProgressReported
  | RecordShortened
  | ToolWithdrawn
  | WindowLearned
  | CompactionPostponed
  | PlanChanged
  | ToolsDenied
  | AgentStalled
  | ForkCompared
  | CoordinatorEvent
  | AgentEnded;
