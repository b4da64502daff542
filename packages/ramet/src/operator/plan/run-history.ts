/** What earlier runs of the operator took, as values: predictions and statistics are computed from them. Shapes only. */
import type { Usage } from '../../schema/usage.ts';
import type { TaskNode } from '../schedule/task-graph.ts';

/** What one task took. Times are in milliseconds and leave out when no process worked on the run. */
export interface TaskHistory {
  readonly id: string;
  readonly title: string;
  /** The agent type and effort that its file gave it; null where it gave none. */
  readonly type: string | null;
  readonly effort: string | null;
  /** The model of its agent; null if none started. */
  readonly model: string | null;
  readonly outcome: 'done' | 'failed' | 'open';
  /** When its first agent started and when it was over; null if it never was. */
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** While an agent had a place for it, all its attempts together. */
  readonly workMs: number;
  /** The part of that before the first request: its worktree is made, and it waits for others that write the cache. */
  readonly setupMs: number;
  /** While its work was checked and merged. */
  readonly verifyMs: number;
  readonly mergeMs: number;
  /** Between a failure and the next try. */
  readonly pauseMs: number;
  /** Making its worktrees; null if it had none. */
  readonly worktreeMs: number | null;
  readonly attempts: number;
  readonly requests: number;
  readonly usage: Usage;
  readonly costUsd: number | null;
  /** What its agents read that others had written into the cache, and what that saved. */
  readonly reused: { readonly tokens: number; readonly savedUsd: number | null };
  /** Declared in its file, and really changed. */
  readonly declared: readonly string[];
  readonly changed: readonly string[];
  readonly conflicted: boolean;
}

/** One decision about the first request of an agent. */
export interface LaunchHistory {
  readonly choice: 'at_once' | 'lead' | 'follow';
  /** How long it was held. */
  readonly heldMs: number;
  readonly sharedTokens: number;
  readonly savedUsd: number | null;
}

export interface RunHistory {
  readonly startedAt: number;
  /** `ended`: nothing was under way any more. */
  readonly ended: boolean;
  /** No pause, no person, no crash, and every task is done: the run shows what such a run takes. */
  readonly undisturbed: boolean;
  /** Agents at once: what was asked for, or the most that were seen. */
  readonly width: number;
  /** How many agents compete for one task. */
  readonly competing: number;
  /** All of it, before the first agent, and after the last task. */
  readonly wallMs: number;
  readonly headMs: number;
  readonly tailMs: number;
  /** What all of it cost, and the part of it that no task's agent spent. */
  readonly costUsd: number | null;
  readonly otherUsd: number | null;
  readonly tasks: readonly TaskHistory[];
  readonly launches: readonly LaunchHistory[];
  readonly nodes: readonly TaskNode[];
}
