/** What a run of the operator is asked for, and what it answers. Shapes only: importing it loads nothing. */
import type { OperatorState } from '../../operator/run/operator-state.ts';
import type { Isolation, OperatorAction } from '../../schema/operator-events.ts';
import type { ConflictPolicy, MergeStrategy } from '../../schema/status.ts';
import type { TaskQuestions } from './attempts/task-questions.ts';

/** Everything has a default. */
export interface OperateSettings {
  /** Include optional tasks. */
  optional?: boolean | undefined;
  /** The target; the branch that is checked out when absent. */
  into?: string | undefined;
  /** `best-effort` (default), `all`, `quorum:K` or `first`. */
  policy?: string | undefined;
  /** How many agents work at once: 4 when absent, and `auto` for what a plan recommends. */
  parallel?: number | 'auto' | undefined;
  /** With `first`: how many agents compete for one task. */
  attempts?: number | undefined;
  /** Where agents work (OP-9); `auto` when absent. */
  isolation?: Isolation | 'auto' | undefined;
  strategy?: MergeStrategy | undefined;
  /** A shell command that must succeed on the merged files; false for none, whatever the settings say. */
  check?: string | false | undefined;
  checkSeconds?: number | undefined;
  /** `retry` (default): the task is done again on the new base. `resolve`: another agent. `person`. */
  onConflict?: ConflictPolicy | undefined;
  /** Of the agents that resolve conflicts. */
  resolveModel?: string | undefined;
  resolveBudgetUsd?: number | undefined;
  /** Agent types that must approve each commit before it is merged. They must be types that only read. */
  review?: readonly string[] | undefined;
  /** Of the agents that review; the setting `operate.models` has all roles. */
  reviewModel?: string | undefined;
  /** How often a failed task is tried again. */
  retries?: number | undefined;
  maxBudgetUsd?: number | undefined;
  /** Of the agents; the session's own when absent. */
  model?: string | undefined;
  /** Move a target that is checked out too, when that checkout is clean. */
  updateCheckout?: boolean | undefined;
  /** Whether done tasks are marked in the file; they are, unless this is false. */
  marks?: boolean | undefined;
  /** A file for the report, which `ramet operate` writes at the end, also of a run that is resumed. */
  report?: string | undefined;
}

export interface OperateOrder extends OperateSettings {
  /** A task file, or a folder with a file for each task; absent to resume the run of this session. */
  file?: string | undefined;
  /** Also if a run of the same file is not over. */
  again?: boolean | undefined;
  /** Read list items without a box as tasks. */
  bullets?: boolean | undefined;
  /** Which list of a JSON file that has several. */
  tag?: string | undefined;
  signal?: AbortSignal | undefined;
  /** What a person should know, one line each. */
  note?: ((line: string) => void) | undefined;
  /** Called when the run has begun: it can be asked for things from then on. */
  onBegin?: ((run: RunningOperator) => void) | undefined;
  /** Answers questions about permission; without it they are denied as the session's broker says. */
  questions?: TaskQuestions | undefined;
}

/** A run under way. */
export interface RunningOperator {
  readonly session: string;
  readonly state: OperatorState;
  /** Returns why it was refused, and what is possible; null when it was carried out. */
  act(action: OperatorAction, by: 'person' | 'model' | 'program'): string | null;
  /** What may be asked for now, about one task or about the run. */
  allowed(task?: string): OperatorAction['kind'][];
  /** Interrupts every agent; the run can be resumed. */
  stopAll(reason: string): void;
}

export interface OperateOutcome {
  readonly session: string;
  readonly state: OperatorState;
}
