/** One entry of the list an agent keeps of its own work. Not a task: nobody assigns or runs it. */
export const TODO_STATUSES = ['pending', 'in_progress', 'completed'] as const;

/** The closed set of what an agent can be (AGENT-5), each with a cause where one helps. */
export const AGENT_STATUSES = [
  'queued',
  'running',
  'waiting',
  'blocked',
  'done',
  'failed',
  'cancelled',
  'interrupted',
  'timed_out',
] as const;

export type AgentStatus = (typeof AGENT_STATUSES)[number];

/** Why an agent under way does not run, by its status. Programs read these words: docs/views.md lists them. */
export const LIVE_CAUSES = {
  queued: ['capacity'],
  waiting: ['children', 'lead', 'limit', 'provider'],
  blocked: ['permission'],
} as const;

export type LiveCause = (typeof LIVE_CAUSES)[keyof typeof LIVE_CAUSES][number];

/** What an agent can be that has not ended. */
export type LiveStatus = 'running' | keyof typeof LIVE_CAUSES;

export function isUnderWay(status: AgentStatus): status is LiveStatus {
  return status === 'running' || status in LIVE_CAUSES;
}

/** What tools may do without a question (RES-3); docs/permissions.md says what each one means. */
export const SESSION_MODES = ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'] as const;

export type SessionMode = (typeof SESSION_MODES)[number];

/** An agent in `bubble` has its parent's mode, so only an agent that another one started can be in it. */
export type PermissionMode = SessionMode | 'bubble';

export const PERMISSION_MODES: readonly PermissionMode[] = [...SESSION_MODES, 'bubble'];

/** Whether siblings start together (LAUNCH-1): always, never with a cold prefix, or as it pays. */
export const LAUNCH_MODES = ['auto', 'parallel', 'staggered'] as const;

export type LaunchMode = (typeof LAUNCH_MODES)[number];

/** Where an agent's loop and tools run. */
export const EXECUTORS = ['in-process', 'process'] as const;

export type ExecutorKind = (typeof EXECUTORS)[number];

/** How a session came about, as hooks read it. */
export type StartSource = 'startup' | 'resume' | 'clear' | 'fork';

/** Why a session ends, as hooks read it. */
export const END_REASONS = ['clear', 'resume', 'prompt_input_exit', 'other'] as const;

export type SessionEndReason = (typeof END_REASONS)[number];

/** What a session with a coordinator is at (COORD-1). */
export const COORDINATOR_PHASES = ['research', 'synthesis', 'implementation', 'verification'] as const;

export type CoordinatorPhase = (typeof COORDINATOR_PHASES)[number];

/** What forks do that nobody asked for by name (BG-1): each is a line of the bill, and `compaction` is one of them. */
export type BackgroundSource = 'memory' | 'suggestions' | 'summary' | 'speculation' | 'dream';

/** Whose settings files count, besides managed policy. */
export const SETTINGS_SOURCES = ['user', 'project', 'local'] as const;
export type SettingsSource = (typeof SETTINGS_SOURCES)[number];

/** How hard a model is to think (RES-9). */
export const EFFORTS = ['low', 'medium', 'high', 'max'] as const;

export type Effort = (typeof EFFORTS)[number];

/** The choices for a merge. */
export const MERGE_STRATEGIES = ['merge', 'squash', 'rebase', 'cherry-pick'] as const;

export type MergeStrategy = (typeof MERGE_STRATEGIES)[number];

/** `fast-forward`, of the operator alone: what is merged and checked elsewhere lands as it is where it can. */
export type QueueStrategy = MergeStrategy | 'fast-forward';

/**
 * What happens to a branch that conflicts: it stays for a person; it is tried again, commit by commit, when
 * the others are in; or a resolver is asked.
 */
export const CONFLICT_POLICIES = ['person', 'retry', 'resolve'] as const;

export type ConflictPolicy = (typeof CONFLICT_POLICIES)[number];

/** What an agent may spend. Absent means unbounded. */
export interface BudgetLimits {
  usd?: number | undefined;
  tokens?: number | undefined;
  seconds?: number | undefined;
}

export interface TodoItem {
  content: string;
  status: (typeof TODO_STATUSES)[number];
  /** How it reads while it is being done: "Fixing the parser". */
  activeForm?: string | undefined;
}

export function openTodos(todos: readonly TodoItem[]): TodoItem[] {
  return todos.filter(({ status }) => status !== 'completed');
}

/** Rules as people write them (`Bash(npm test:*)`), and directories that count like the working directory. */
export interface GivenRights {
  allow?: readonly string[];
  ask?: readonly string[];
  deny?: readonly string[];
  folders?: readonly string[];
}
