/**
 * What can run in the background (BG-1). A work is registered with everything that makes it different from the others:
 * when it is due, what it may spend and use, and what a person's next prompt does to it. Shapes, and the filters that
 * several of them use.
 */
import type { AgentWorkspace } from '../../git/worktrees/workspace/agent-workspace.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { BackgroundSource, BudgetLimits } from '../../schema/status.ts';
import type { Agent } from '../agent/agent.ts';
import type { AgentResult } from '../agent/agent-event.ts';
import type { CanUseTool } from '../agent/runtime.ts';

/** A turn that has ended with an answer: what forks begin with. */
export interface FinishedTurn {
  readonly agent: Agent;
  /** Prompts of the session so far. */
  readonly prompts: number;
}

export interface BackgroundWork {
  /** Its line in the bill and in the list of agents; also one of a kind at a time. */
  readonly source: BackgroundSource;
  /** What it is for, in a few words. */
  readonly description: string;
  /** What one fork may take. */
  readonly limits: BackgroundLimits;
  /** Which calls may run. The tools of the request are its parent's, byte for byte: it is refused here or nowhere. */
  readonly canUseTool: CanUseTool;
  /** The next prompt ends it: what it finds is of no use then. Others continue beside the prompt. */
  readonly endsWithPrompt: boolean;
  /** It has a budget of its own, and no part in the share that all others have. */
  readonly hasOwnBudget?: true;
  /** It looks at an agent that is at work; others wait until it has answered. */
  readonly isForWorking?: boolean;
  /** What is to be done after this turn; null for nothing. */
  due(turn: FinishedTurn): DueWork | null | Promise<DueWork | null>;
}

export interface BackgroundLimits {
  readonly budget: BudgetLimits;
  /** After these it gets one more turn to answer. */
  readonly maxTurns: number;
}

export interface DueWork {
  readonly task: string;
  /** The worktree that the fork works in, made when it may begin; it is given back when the fork has ended. Null: it does not begin. */
  workspace?(fork: AgentId, signal: AbortSignal): Promise<AgentWorkspace | null>;
  /** Told of the fork before it runs; `stop` ends it. */
  begins?(fork: Agent, stop: () => void): void;
  /** Carries out what the fork has answered. It is not called for one that was ended or has failed. */
  take(done: DoneWork): void | Promise<void>;
}

export interface DoneWork {
  readonly fork: Agent;
  readonly answer: string;
}

/** What came of one, for the session's own account. */
export interface BackgroundOutcome {
  readonly source: BackgroundSource;
  readonly result: AgentResult;
  /** Why its answer was not carried out; null where it was, or there was none. */
  readonly problem: string | null;
}

/** One request answers; others follow only where the model called a tool, and the third is the last. */
export const ONE_ANSWER: BackgroundLimits = { budget: { seconds: 60 }, maxTurns: 2 };

export const NO_TOOLS: CanUseTool = () => ({
  allowed: false,
  reason: 'you work in the background and have no tools: answer with text only',
});
