/** What the operator needs from the world. It decides; these start agents, merge, write and tell the time. */
import type { Clock } from '../../schema/clock.ts';
import type {
  ConflictResolver,
  ConflictSteps,
  OperatorEvent,
  OperatorRun,
  RebasedWork,
  RecordedCheck,
  RunTask,
  TaskConflict,
  TaskQuestion,
} from '../../schema/operator-events.ts';
import type { Bill } from '../../schema/usage.ts';
import type { TaskAttempt } from './operator-state.ts';

export interface AttemptOrder {
  readonly run: OperatorRun;
  readonly task: RunTask;
  readonly attempt: TaskAttempt;
  /** The one before it, whose failure it is to know of; null for the first. */
  readonly before: TaskAttempt | null;
  /** An earlier process began it: its agent is found by its name and continued, or started if none exists. */
  readonly isResumed: boolean;
}

/** Told while an attempt runs. */
export interface AttemptWatch {
  started(facts: {
    agent: string;
    branch: string | null;
    path: string | null;
    isolation?: NonNullable<TaskAttempt['isolation']>;
  }): void;
  /** It cannot continue before a person has answered. */
  asked(question: TaskQuestion): void;
  answered(): void;
  /** Its agent has nothing more to do: what is left is to keep its work, which takes no place. */
  rests(): void;
}

interface AttemptFacts extends Bill {
  /** What members of a team had spent while they held no task. */
  readonly idle?: Bill;
  readonly branch?: string | null;
  readonly path?: string | null;
  /** What people should know of how its work was taken, one line each. */
  readonly notes?: readonly string[];
}

export type AttemptEnd = AttemptFacts &
  (
    | { readonly kind: 'worked'; readonly commit: string; readonly files: readonly string[] }
    /** Its agent is done and has changed nothing. `isReport`: its report is all that was wanted. */
    | { readonly kind: 'unchanged'; readonly isReport: boolean }
    /** `final`: another attempt would not help. */
    | {
        readonly kind: 'failed';
        readonly cause: string;
        readonly message: string | null;
        readonly final?: boolean;
        /** What a person can do, with the commands. */
        readonly person?: string;
      }
    /** It can be resumed. */
    | { readonly kind: 'interrupted'; readonly cause: string; readonly message: string | null }
  );

export interface LiveAttempt {
  /** Never rejects. */
  readonly ended: Promise<AttemptEnd>;
  /** Interrupts it: it ends, and its work stays where it is. */
  stop(reason: string): void;
}

export interface ReviewOrder {
  readonly run: OperatorRun;
  readonly task: RunTask;
  /** Its commit is what is reviewed. */
  readonly attempt: TaskAttempt;
  /** The reviewer's agent type. */
  readonly type: string;
  /** How its agent is called. */
  readonly name: string;
  /** An earlier process may have begun it: its agent is found by its name, and continued or only read. */
  readonly isResumed: boolean;
}

export type ReviewEnd = Pick<AttemptFacts, 'costUsd' | 'usage'> & { readonly agent: string | null } & (
    | { readonly kind: 'verdict'; readonly approved: boolean; readonly reasons: string }
    /** It has ended without a verdict. */
    | { readonly kind: 'failed'; readonly message: string }
    /** It can be resumed. */
    | { readonly kind: 'interrupted'; readonly cause: string; readonly message: string | null }
  );

export interface LiveReview {
  /** Never rejects. */
  readonly ended: Promise<ReviewEnd>;
  stop(reason: string): void;
}

export interface MergeOffer {
  readonly task: RunTask;
  readonly attempt: TaskAttempt;
  /** The last work of this task that was not taken; null if nothing was refused. */
  readonly rejected: TaskAttempt | null;
}

export interface MergeBatch {
  readonly run: OperatorRun;
  readonly offers: readonly MergeOffer[];
  readonly check: OperatorRun['check'];
  /** What agents that resolve conflicts may spend of the run's budget; absent for no limit. */
  readonly leftUsd?: number;
  /** The private ref was put on another base: an attempt may have begun with work that is no longer on it. */
  readonly isRebased?: boolean;
  /** Why its check cannot begin yet; null when it begins. */
  onWaiting?(why: string | null): void;
  /** Called when what is to be merged has passed the check, before the private ref moves. */
  onChecked(): Promise<void>;
}

/** What a person made of work that conflicted. */
export interface ResolvedWork {
  readonly number: number;
  readonly branch: string;
  readonly commit: string;
  /** The private ref has it already. */
  readonly isIn: boolean;
}

/** What came of one offer. */
export type MergeOutcome =
  | { readonly kind: 'merged'; readonly result: string; readonly isNothing: boolean }
  | {
      readonly kind: 'conflict';
      readonly files: readonly string[];
      readonly message: string;
      readonly steps?: ConflictSteps;
    }
  /** The check fails because of it. */
  | { readonly kind: 'check'; readonly message: string; readonly check?: RecordedCheck | null }
  /** The check fails without it too: it is not to blame, and nothing is known of it. */
  | { readonly kind: 'base_check'; readonly message: string; readonly check?: RecordedCheck | null }
  /** It changed nothing, and that does not do: its earlier work was not taken. */
  | { readonly kind: 'no_changes'; readonly message: string }
  /** Git fails on it. */
  | { readonly kind: 'git_failed'; readonly message: string }
  | { readonly kind: 'refused'; readonly message: string };

/** What resolving the conflicts of a task has cost, and what came of it. */
export interface ResolverSpending extends Pick<AttemptFacts, 'costUsd' | 'usage'> {
  readonly resolved?: Pick<TaskConflict, 'files'> & { readonly by: readonly ConflictResolver[] };
}

export interface BatchReport {
  /** Where the private ref is now. */
  readonly head: string;
  /** By task. */
  readonly spent?: ReadonlyMap<string, ResolverSpending>;
  /** By task. */
  readonly outcomes: ReadonlyMap<string, MergeOutcome>;
  readonly check: RecordedCheck | null;
  /** What git says if it fails on the work of one of them: nothing is known of the others then. */
  readonly failure?: string;
}

export interface LandingReport {
  readonly state: 'moved' | 'kept' | 'failed';
  readonly before: string | null;
  readonly after: string | null;
  /** The commit that landed or waits: more than was asked for, if the target had moved. */
  readonly commit: string;
  readonly message: string | null;
  /** It failed because the target has moved, and this would fit. */
  readonly rebased?: RebasedResult;
}

/** What is to land, and what is needed if it does not fit. */
export interface LandingOrder {
  readonly commit: string;
  /** What the target had when the run began, or moved it last: it may have lost that since. */
  readonly known: string;
  /** The tasks that are done, with where their work is. */
  readonly work: readonly LandingWork[];
  readonly leftUsd?: number;
  /** The target has moved during the check: the result is merged and checked again, as the try of that number. */
  onMissed?(next: number, most: number): void;
}

/** Work that had landed and is not on the target any more. */
export interface LostWork {
  readonly result: string;
  /** The commands that put it back. */
  readonly steps: readonly string[];
}

export interface LandingWork {
  readonly task: RunTask;
  readonly result: string;
  /** The try that did it. */
  readonly attempt?: Pick<TaskAttempt, 'branch' | 'base' | 'commit'>;
}

/** The same work on top of what the target has become. Nothing refers to it yet. */
export interface RebasedResult extends RebasedWork {
  readonly commit: string;
  /** By task. */
  readonly spent: ReadonlyMap<string, ResolverSpending>;
}

export interface OperatorPorts {
  readonly clock: Clock;
  /** By task: conflicts that a person has resolved since the run ended. */
  readonly resolved?: ReadonlyMap<string, ResolvedWork>;
  /** At once and in order; `recorded` resolves when it is on the disk. */
  record(event: OperatorEvent): void;
  recorded(): Promise<void>;
  begin(order: AttemptOrder, watch: AttemptWatch): LiveAttempt;
  /** At most this many are about to start, from that commit on: what they need can be made while others work. */
  expect?(run: OperatorRun, count: number, base: string): void;
  /** An agent that is not the author judges the commit of an attempt. */
  review(order: ReviewOrder): LiveReview;
  /** How the check ends without any task. A batch that comes meanwhile waits for it. Null if that cannot be known. */
  checkBase?(run: OperatorRun, signal: AbortSignal): Promise<RecordedCheck | null>;
  /** One batch at a time. */
  integrate(batch: MergeBatch): Promise<BatchReport>;
  land(run: OperatorRun, order: LandingOrder): Promise<LandingReport>;
  /** What of this work, which has landed, the target does not have now: by task. `kept`: what waits to be taken into it. */
  lost?(
    run: OperatorRun,
    landed: { work: readonly LandingWork[]; kept: string | null },
  ): Promise<ReadonlyMap<string, LostWork>>;
  /** What the target is now, if that has all of `head` and more; null if not. */
  ahead?(run: OperatorRun, head: string): Promise<string | null>;
  /** The private ref is another commit from now on, which need not have what it had. */
  reset(run: OperatorRun, commit: string): Promise<void>;
  /** Marks tasks as done in their files. By id; one that is missing was not marked. */
  mark(
    run: OperatorRun,
    tasks: readonly RunTask[],
  ): Promise<ReadonlyMap<string, { written: boolean; why: string | null }>>;
  /** How many agents may work at once, where the run leaves that open. */
  width(run: OperatorRun): number;
  /** Whether a person is there to answer: otherwise a run does not wait for answers once all else is over. */
  readonly isAttended: boolean;
  /** Answers an open question; false if no such question is open. */
  answer?(question: string, answer: 'once' | 'always' | 'denied'): boolean;
}
