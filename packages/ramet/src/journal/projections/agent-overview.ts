/** What is shown of one agent: the value that `status.ts` folds events into. */
import type { ThinkingConfig } from '../../schema/content.ts';
import type { RecordedWorktree } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { AgentStatus, BackgroundSource, CoordinatorPhase, TodoItem } from '../../schema/status.ts';
import { NO_USAGE, type Usage } from '../../schema/usage.ts';
import { NO_WAIT } from './run-status.ts';

export type AgentActivity =
  | { kind: 'requesting'; model: string; attempt: number; since: number }
  | { kind: 'retrying'; code: string; until: number }
  | { kind: 'tools'; names: string[]; since: number };

export interface AgentOverview {
  id: AgentId;
  parent: AgentId | null;
  /** `fork` for every fork. */
  type: string;
  name: string | null;
  /** What it is for; null for one that nobody asked for. */
  description: string | null;
  /** Its parent does not wait for it. */
  background: boolean;
  /** What it does unasked; null for work that was asked for. */
  source: BackgroundSource | null;
  model: string;
  /** How it thinks; null where nobody chose. */
  thinking: ThinkingConfig | null;
  status: AgentStatus;
  cause: string | null;
  /** When it will continue, in milliseconds since the epoch; null if unknown. */
  until: number | null;
  /** How long that was when it was recorded. */
  waitMs: number | null;
  message: string | null;
  /** Completed responses. */
  turns: number;
  /** How often it was resumed after an interruption. */
  resumed: number;
  startedAt: number;
  lastEventAt: number;
  /** How long nothing had happened when that was longer than the stall limit; null once something happens. */
  stalledMs: number | null;
  /** Null when it is between two steps, and always once it has ended. */
  activity: AgentActivity | null;
  usage: Usage;
  costUsd: number | null;
  /** Its list of its own work, as it last wrote it. */
  todos: readonly TodoItem[];
  /** Of a coordinator: what its session is at; null for every other agent. */
  phase: CoordinatorPhase | null;
  /** Its latest progress line for the current task; null before the first. */
  progress: string | null;
  /** The worktree it works in, or that holds its work; null for one that has none, or whose has vanished. */
  worktree: Pick<RecordedWorktree, 'path' | 'branch' | 'base'> | null;
  /** What changed in the checkout of its worktree while it worked, and nobody known did it. */
  checkoutChanges: readonly string[];
}

/** What the start of an agent says about it. */
export type OverviewAtStart = Pick<
  AgentOverview,
  'id' | 'parent' | 'type' | 'name' | 'description' | 'background' | 'model' | 'startedAt'
>;

/** What an agent is before any of its events is folded. */
export const BEGINNING: Readonly<Omit<AgentOverview, keyof OverviewAtStart | 'lastEventAt'>> = {
  source: null,
  thinking: null,
  status: 'running',
  cause: null,
  ...NO_WAIT,
  message: null,
  turns: 0,
  resumed: 0,
  stalledMs: null,
  activity: null,
  usage: NO_USAGE,
  costUsd: 0,
  todos: [],
  phase: null,
  progress: null,
  worktree: null,
  checkoutChanges: [],
};

export function placeOf({ path, branch, base }: RecordedWorktree): AgentOverview['worktree'] {
  return { path, branch, base };
}
