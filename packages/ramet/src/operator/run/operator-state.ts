/** A run of the operator as a value (OP-2): what was asked for, every task, what has landed. Views and the machine read it. */
import { createHash } from 'node:crypto';
import type {
  AttemptChange,
  AttemptReview,
  LeftOut,
  OperatorAction,
  OperatorRun,
  RecordedCheck,
  RunStatus,
  RunTask,
  SilentReview,
  TaskConflict,
  TaskQuestion,
  TaskStatus,
} from '../../schema/operator-events.ts';
import { addCost, type Bill, type Usage } from '../../schema/usage.ts';
import { mapOf, type PersistentMap, valueAt } from '../../system/persistent.ts';

/** One try of a task. What is not known is null. */
export interface TaskAttempt {
  readonly number: number;
  readonly state: NonNullable<AttemptChange['state']>;
  /** How its agent is called: it is found again by that after a crash. */
  readonly name: string;
  /** Null before it is known. */
  readonly isolation: NonNullable<AttemptChange['isolation']> | null;
  readonly agent: string | null;
  readonly branch: string | null;
  readonly path: string | null;
  readonly base: string | null;
  readonly commit: string | null;
  readonly files: readonly string[];
  readonly cause: string | null;
  readonly message: string | null;
  /** How its work was taken: what was put right, one line each. */
  readonly notes: readonly string[];
  /** 0 until it has ended, then with its reviews; null when it is unknown. */
  readonly costUsd: number | null;
  readonly usage: Usage;
  /** Of a team's run: see `AttemptChange`. */
  readonly idle: Bill | null;
  readonly reviews: readonly AttemptReview[];
  /** Reviewers that gave no verdict, and how many of them do not count any more. */
  readonly silent: readonly SilentReview[];
  readonly forgiven: number;
  /** The check that its work did not pass; null for none. */
  readonly check: RecordedCheck | null;
  readonly startedAt: number;
  /** How long its task waited for the answer of a person. */
  readonly waitedMs: number;
  /** Null while it runs. */
  readonly endedAt: number | null;
}

export interface TaskState {
  readonly task: RunTask;
  readonly status: TaskStatus;
  readonly cause: string | null;
  readonly message: string | null;
  /** When it got this status. */
  readonly since: number;
  readonly until: number | null;
  readonly failures: number;
  readonly attempts: readonly TaskAttempt[];
  readonly result: string | null;
  readonly check: RecordedCheck | null;
  readonly conflict: TaskConflict | null;
  readonly question: TaskQuestion | null;
  /** It is done, and its work is no part of the result any more: what follows from that is not on record yet. */
  readonly leftOut: LeftOut | null;
  /** What a person must do, with the command. */
  readonly person: string | null;
  /** Whether its mark is in the file; null while nobody has tried. */
  readonly marked: { readonly written: boolean; readonly why: string | null } | null;
}

export interface Landing {
  readonly state: 'intended' | 'moved' | 'kept' | 'failed';
  readonly commit: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly message: string | null;
}

export interface AskedAction {
  readonly time: number;
  readonly by: 'person' | 'model' | 'program';
  readonly action: OperatorAction;
  readonly refused: string | null;
}

export interface OperatorState {
  /** Null before a run begins. */
  readonly run: OperatorRun | null;
  readonly status: RunStatus;
  readonly cause: string | null;
  readonly message: string | null;
  readonly startedAt: number;
  /** When the last event came. */
  readonly at: number;
  /** How often another process has continued it. */
  readonly resumed: number;
  /** Ids in the order of the file. */
  readonly order: readonly string[];
  readonly tasks: PersistentMap<TaskState>;
  /** How the check ended without any task; null while that is unknown. */
  readonly baseCheck: RecordedCheck | null;
  /** The commit of the private ref; null before anything is on it. */
  readonly integrated: string | null;
  /** What the target had when the run moved it last, or put the result on top of it; null for what it began with. */
  readonly ground: string | null;
  /** How often the result was put on top of a target that it did not fit to. */
  readonly rebased: number;
  /** The last one; null while nothing was to land. */
  readonly landing: Landing | null;
  /** The commit that the run has put on the target last. */
  readonly landed: string | null;
  /** The latest, oldest first. */
  readonly asked: readonly AskedAction[];
}

export const NO_RUN: OperatorState = {
  ...{ run: null, status: 'running', cause: null, message: null, startedAt: 0, at: 0, resumed: 0 },
  ...{
    order: [],
    tasks: mapOf(),
    baseCheck: null,
    integrated: null,
    ground: null,
    rebased: 0,
    landing: null,
    landed: null,
    asked: [],
  },
};

export function taskOf(state: OperatorState, id: string): TaskState | undefined {
  return valueAt(state.tasks, id);
}

/** In the order of the file. */
export function tasksOf(state: OperatorState): TaskState[] {
  return state.order.flatMap((id) => valueAt(state.tasks, id) ?? []);
}

const ENDED: ReadonlySet<TaskStatus> = new Set([
  ...(['done', 'failed', 'frozen', 'skipped', 'cancelled', 'interrupted', 'timed_out'] as const),
]);

/** Nothing more happens to it unless someone asks. */
export function isTaskEnded({ status }: Pick<TaskState, 'status'>): boolean {
  return ENDED.has(status);
}

/** Nothing waits for it any more. */
export function isDoneWith({ status }: Pick<TaskState, 'status'>): boolean {
  return status === 'done' || status === 'skipped';
}

/** What all its attempts have cost; null when that is unknown. */
export function costOfTask({ attempts }: TaskState): number | null {
  return attempts.reduce<number | null>(
    (sum, { costUsd }) => (sum === null || costUsd === null ? null : sum + costUsd),
    0,
  );
}

/** What members of its team had spent while they held no task, by the time its attempts ended; null when that is unknown. */
export function idleCostOf({ attempts }: Pick<TaskState, 'attempts'>): number | null {
  return attempts.reduce<number | null>((sum, { idle }) => addCost(sum, idle === null ? 0 : idle.costUsd), 0);
}

export function lastAttempt({ attempts }: Pick<TaskState, 'attempts'>): TaskAttempt | undefined {
  return attempts.at(-1);
}

/** Its work names a commit of a submodule that nobody else has. */
export const SUBMODULE_CAUSE = 'submodule';

const LONGEST_NAME = 40;

/**
 * The id of a task as part of other names: of agents, branches, worktrees and files. Two ids never have one name: what is left
 * out or changed shows in a digest behind it.
 */
export function taskName(id: string): string {
  // A ref has no two dots in a row, and a name that begins with a dash looks like an option.
  const plain = id
    .replace(/[^\w.-]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/^[.-]+/, '');
  if (plain === id && id.length <= LONGEST_NAME) return id;
  const digest = createHash('sha256').update(id).digest('hex').slice(0, 6);
  const start = plain.slice(0, LONGEST_NAME - digest.length - 1).replace(/^-+|[.-]+$/g, '');
  return start === '' ? digest : `${start}-${digest}`;
}
