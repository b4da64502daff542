/**
 * What differs between the patterns of parallel work (OP-9): where an agent works, and how its work becomes a commit. Everything
 * else about attempts is in `attempt-agents.ts`.
 */
import type { AgentHandle, AgentResult, SpawnOrder } from '../../../../engine/shapes.ts';
import type { ChangedPath, WorkObjection } from '../../../../git/left-work.ts';
import type { TaskAttempt } from '../../../../operator/run/operator-state.ts';
import type { AttemptEnd, AttemptOrder } from '../../../../operator/run/ports.ts';
import type { OperatorRun } from '../../../../schema/operator-events.ts';

export type AttemptSpawn = Omit<SpawnOrder, 'call' | 'signal'>;

export interface EndedAgent {
  readonly id: string;
  /** Whether its worktree is still there: one without changes is cleared away. */
  readonly isKept: boolean;
  /** Of one that was cleared away: what HEAD was on if not its branch, and its commit if not the one that it began with. */
  readonly head?: string | undefined;
  readonly tip?: string | undefined;
  /** The same of branches besides its own that its agent has put commits on. */
  readonly others?: readonly string[] | undefined;
  readonly result: Pick<AgentResult, 'status' | 'cause' | 'message' | 'costUsd' | 'usage'> & {
    /** What it said last; absent for an agent of an earlier process. */
    readonly text?: string;
  };
}

/** Where an attempt works, or its work is. */
export interface AttemptSite {
  readonly branch: string | null;
  readonly path: string | null;
}

export interface AttemptWork {
  readonly commit: string;
  readonly files: readonly string[];
  /** What holds the commit: a branch, or the full name of a ref. */
  readonly branch: string | null;
}

/** With what it changes. */
export type ChangingWork = AttemptWork & { readonly changes: readonly ChangedPath[] };

/** As it is recorded. */
export function withoutChanges(work: ChangingWork | null): AttemptWork | null {
  return work === null ? null : { commit: work.commit, branch: work.branch, files: work.files };
}

/** Why an agent that has ended well has not done its task: a stable word, and a line for people. */
export type AttemptObjection = WorkObjection;

export type AttemptBill = Pick<AttemptEnd, 'costUsd' | 'usage' | 'idle'>;

/** Nobody took it, and why. */
export type NotHired = AttemptBill & {
  readonly notHired: 'failed' | 'interrupted';
  readonly cause: string;
  readonly message: string | null;
};

export interface AttemptPattern {
  readonly isolation: NonNullable<TaskAttempt['isolation']>;
  /** Said for every attempt that begins, before anything is waited for. */
  expect?(order: AttemptOrder): void;
  /** What the order for its agent says about where it works. `stop` ends the agent. Throws if it can work nowhere. */
  prepare(order: AttemptOrder, stop: (reason: string) => void): Promise<Partial<AttemptSpawn>>;
  /** Its agent is one that is there already, and takes the task by itself; null if it was called off before. `prepare` is not asked then. */
  hire?(
    order: AttemptOrder,
    prompt: string,
    signal: AbortSignal,
  ): Promise<AgentHandle | EndedAgent | NotHired | null>;
  /** What the try has cost, if that is not what its agent has. */
  bill?(order: AttemptOrder): Promise<AttemptBill>;
  /** The try is over, whatever came of it. */
  over?(order: AttemptOrder): void;
  siteOf(order: AttemptOrder, agent: string): Promise<AttemptSite>;
  /** What speaks against its work, however its agent has ended; asked before anything else. */
  objection?(order: AttemptOrder, ended: EndedAgent): Promise<AttemptObjection | null>;
  /** Its work, committed; null for none. `tell` sends its agent a message and waits until the agent has ended. */
  collect(
    order: AttemptOrder,
    ended: EndedAgent,
    tell: (text: string) => Promise<EndedAgent>,
  ): Promise<AttemptWork | AttemptObjection | EndedAgent | null>;
  /** Its agent has failed, or its work does not count: what is there is kept, and is nobody's any more. */
  abandon?(order: AttemptOrder, ended: EndedAgent): Promise<{ branch: string | null }>;
  /** What people should know of how its work was taken, one line each; asked last. */
  notes?(order: AttemptOrder, ended: EndedAgent): readonly string[];
}

export type TellAgent = (agent: string, text: string) => Promise<AgentHandle>;

/** What commits say that they are for. */
export function taskLine({ id, title }: AttemptOrder['task']): string {
  return `${id} ${title}`;
}

export const WORK_REFS = 'refs/ramet/attempts/';
/** Those that keep commits beside the files of a checkout that tasks share. */
export const LEFT_REFS: string = `${WORK_REFS}left/`;

/** The ref that keeps the work of an attempt that has no branch. */
export function workRef({ integration }: Pick<OperatorRun, 'integration'>, name: string): string {
  const run = runName({ integration });
  return `${WORK_REFS}${run}/${name.replace(/\.{2,}/g, '.').replace(/^\./, '')}`;
}

/** The same for the whole run, and for no other. */
export function runName({ integration }: Pick<OperatorRun, 'integration'>): string {
  return integration.split('/').at(-1) ?? integration;
}
