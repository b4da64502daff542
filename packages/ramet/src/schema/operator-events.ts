/**
 * A run of the operator as it is recorded (OP-2): the tasks, every change of one task, what was merged, what people asked
 * for. They are events of the session as a whole, so their `agent` is null. `operator/run/apply-operator-event.ts` folds them.
 *
 * Invariants
 * 1. A change is recorded before it is acted on: an agent starts, a ref moves and a mark is written afterwards.
 * 2. A change names one task and carries only what is new about it.
 */
import type { Isolation, OperatorRun, RunChange } from './operator-run.ts';
import type { BudgetLimits, Effort } from './status.ts';
import type { ConflictSteps, TaskConflict } from './task-conflict.ts';
import type { Bill } from './usage.ts';

export {
  ISOLATIONS,
  type Isolation,
  type OperatorRun,
  type RunChange,
  type RunRules,
} from './operator-run.ts';
export type { ConflictResolver, ConflictSteps, TaskConflict } from './task-conflict.ts';

/** What agents can be (AGENT-5), and what only tasks can be. */
export const TASK_STATUSES = [
  'queued',
  'ready',
  'running',
  'waiting',
  'blocked',
  'verifying',
  'merging',
  'done',
  'failed',
  'frozen',
  'skipped',
  'cancelled',
  'interrupted',
  'timed_out',
] as const;

export type TaskStatus = (typeof TASK_STATUSES)[number];

/** What a task of the run may have of its own. */
export interface RunTaskSettings {
  check?: string | undefined;
  model?: string | undefined;
  /** An agent type. */
  type?: string | undefined;
  budget?: BudgetLimits | undefined;
  /** How many requests its agent may make. */
  maxTurns?: number | undefined;
  effort?: Effort | undefined;
  /** Types of the agents that must approve its work; none, if it is empty. */
  review?: readonly string[] | undefined;
  isolation?: Isolation | undefined;
}

/** A task as the run takes it from its file: what follows from the rest of the file is in it. */
export interface RunTask {
  id: string;
  title: string;
  /** The file that has its mark; null for one that no file has. */
  file: string | null;
  line: number;
  phase: string | null;
  /** Ids of tasks of this run. */
  waits: readonly string[];
  /** The number of its phase where phases are barriers. */
  barrier: number | null;
  /** What it says it touches. */
  files: readonly string[];
  /** They are all it touches: a field of the file says so, not a sentence. */
  declares?: boolean | undefined;
  /** What a person must do before it may start. */
  gate: string | null;
  /** Deferred: only a person starts it. */
  held: boolean;
  settings: RunTaskSettings;
  /** What the file says about it, cut to a size that fits into a prompt. */
  text: string;
  /** Where the rest of it is; null if nothing was cut. */
  rest: string | null;
}

interface OperatorStarted {
  type: 'operator.started';
  run: OperatorRun;
  tasks: readonly RunTask[];
}

/** Another process continues the run. */
interface OperatorResumed {
  type: 'operator.resumed';
  /** What is asked for from now on; the rest is as before. */
  change?: RunChange;
}

interface TasksAdded {
  type: 'operator.tasks_added';
  tasks: readonly RunTask[];
}

/** `draining`: nothing new starts. `tripped`: the same, until a person resumes it. `ended`: nothing is under way. */
const RUN_STATUSES = ['running', 'paused', 'draining', 'tripped', 'ended'] as const;

export type RunStatus = (typeof RUN_STATUSES)[number];

interface OperatorChanged {
  type: 'operator.changed';
  status: RunStatus;
  /** `breaker`, `budget`, `interrupted`, `person`, ...; null when there is nothing to add. */
  cause: string | null;
  message: string | null;
}

/** What a reviewer says about one commit. It counts for that commit alone. */
export interface AttemptReview {
  /** The reviewer's agent type. */
  type: string;
  commit: string;
  agent: string | null;
  approved: boolean;
  reasons: string;
  costUsd: number | null;
  /** The person who approved it in place of the reviewers; absent for a reviewer. */
  by?: string;
}

/** A reviewer that has ended and said nothing about the commit. */
export interface SilentReview {
  type: string;
  commit: string;
  agent: string | null;
  message: string;
}

/** One try of a task, billed with its reviewers. The first mention of a number adds it; later ones replace the fields that they name. */
export interface AttemptChange extends Partial<Bill> {
  number: number;
  /** `ended`: its agent is done and its work is committed, and nothing is known of it yet. */
  state?: 'running' | 'ended' | 'passed' | 'failed' | 'stopped';
  /** How its agent is called: it is found again by that after a crash. */
  name?: string;
  /** Where it works; `read` for one that only reads, beside others that do. */
  isolation?: Isolation | 'read';
  agent?: string | null;
  branch?: string | null;
  /** Its worktree. */
  path?: string | null;
  /** The commit it began with, and the one that holds its work. */
  base?: string | null;
  commit?: string | null;
  files?: readonly string[];
  /** Why it failed: a stable word, and a line for people. */
  cause?: string | null;
  message?: string | null;
  /** What people should know of how its work was taken: what was put right, one line each. */
  notes?: readonly string[];
  /** What members of a team had spent by then while they held no task: a part of what the run costs, and not of `costUsd`. */
  idle?: Bill;
  /** All verdicts so far. */
  reviews?: readonly AttemptReview[];
  /** All reviewers so far that gave none. */
  silent?: readonly SilentReview[];
  /** How many of those were there when a person said that they are to be asked again. */
  forgiven?: number;
  /** The check that its work did not pass. */
  check?: RecordedCheck | null;
}

export interface RecordedCheck {
  command: string;
  passed: boolean;
  /** `exit code 1`. */
  ending: string;
  /** The file that holds what it printed. */
  output: string;
}

/** A question about permission that one of its agents has asked, and nobody has answered. */
export interface TaskQuestion {
  /** What `ramet operate answer` calls it. */
  id: string;
  agent: string;
  tool: string;
  summary: string;
  reason: string;
  rules: readonly string[];
}

/** One task changed: the actor of this task, and no other. Fields that are absent stay as they were. */
export interface TaskChanged {
  type: 'task.changed';
  task: string;
  status: TaskStatus;
  /** `permission`, `gate`, `setup`, `dependency`, `check`, `conflict`, `nothing`, `budget`, ...; null for none. */
  cause: string | null;
  message?: string | null;
  /** When it is tried again, in milliseconds since the epoch. */
  until?: number | null;
  failures?: number;
  attempt?: AttemptChange;
  /** The commit on the private ref that holds it. */
  result?: string | null;
  check?: RecordedCheck | null;
  conflict?: TaskConflict | null;
  question?: TaskQuestion | null;
  /** What a person must do, with the command. */
  person?: string | null;
}

/** The mark of a done task was written into its file; `why` says why not. */
interface TaskMarked {
  type: 'task.marked';
  task: string;
  written: boolean;
  why: string | null;
}

/** How the check ends on the target as it was when the run began, without any task. */
interface BaseChecked {
  type: 'operator.base_checked';
  check: RecordedCheck;
}

/** The private ref has moved: these tasks are on it. */
interface OperatorIntegrated {
  type: 'operator.integrated';
  commit: string;
  tasks: readonly string[];
  rebased?: RebasedWork;
}

/** The result did not fit to its target any more, so it was put on top of it, task by task. */
export interface RebasedWork {
  /** What the target had by then. */
  onto: string;
  /** Where the work of each task is now. */
  results: Readonly<Record<string, string>>;
  left: readonly LeftOut[];
}

/** A task that was done, and is not part of the result any more. */
export interface LeftOut {
  task: string;
  /** `dependency`: it waits for another that was left out, and its own work is still good. */
  cause: 'conflict' | 'check' | 'dependency';
  message: string;
  files: readonly string[];
  check: RecordedCheck | null;
  /** How a person resolves its conflict. */
  steps?: ConflictSteps;
}

/** What is about to land, and what came of it. `intended` comes before the target moves. */
interface OperatorLanded {
  type: 'operator.landed';
  state: 'intended' | 'moved' | 'kept' | 'failed';
  commit: string;
  /** The target before and after; null before it is known. */
  before: string | null;
  after: string | null;
  /** How a result that waits is taken, or why nothing landed. */
  message: string | null;
}

/** What people and models may ask of a run, from any terminal. */
export type OperatorAction =
  | { kind: 'add'; tasks: readonly RunTask[] }
  | { kind: 'pause' }
  | { kind: 'resume' }
  | { kind: 'stop' }
  | { kind: 'skip'; task: string }
  | { kind: 'retry'; task: string }
  | { kind: 'start'; task: string }
  /** A person approves that commit in place of the reviewers. */
  | { kind: 'approve'; task: string; commit: string; who: string }
  | { kind: 'answer'; question: string; answer: 'once' | 'always' | 'denied' };

/** Someone asked for something. `refused` says why it was not allowed, and what is; null when it was. */
interface OperatorAsked {
  type: 'operator.asked';
  by: 'person' | 'model' | 'program';
  action: OperatorAction;
  refused: string | null;
}

export type OperatorEvent =
  | OperatorStarted
  | OperatorResumed
  | TasksAdded
  | OperatorChanged
  | TaskChanged
  | TaskMarked
  | BaseChecked
  | OperatorIntegrated
  | OperatorLanded
  | OperatorAsked;
