/** What a run of the operator is asked for, as it is recorded when it begins, and what may change when it is resumed. */
import type { BudgetLimits, ConflictPolicy, MergeStrategy } from './status.ts';

/**
 * Where agents work, and how their work comes in (OP-9): each in a worktree; in one checkout, each with its own declared files
 * (`partition`) or whatever it changes (`none`); reading only and answering with a patch; each in a clone; members of a team, who
 * claim tasks from its list and keep their worktrees.
 */
export const ISOLATIONS = ['worktree', 'partition', 'propose', 'clone', 'none', 'team'] as const;

export type Isolation = (typeof ISOLATIONS)[number];

/** What was asked for when the run began. A resumed run keeps it. */
export interface OperatorRun {
  /** The task file or folder; null for tasks that a program gave. */
  file: string | null;
  /** How that file is read. */
  tag: string | null;
  bullets: boolean;
  optional: boolean;
  /** A local branch, without `refs/heads/`. */
  target: string;
  /** Where the target was when the run began. */
  base: string;
  /** The private ref that results are merged onto. */
  integration: string;
  /** `all`, `best-effort`, `quorum:2` or `first`. */
  policy: string;
  parallel: number | 'auto';
  /** What `auto` came to. */
  width?: number;
  /** How many agents compete for one task, with the policy `first`. */
  attempts: number;
  isolation: Isolation;
  /** Why that was chosen, in a few words; absent where it was asked for. */
  isolationWhy?: string | undefined;
  strategy: MergeStrategy;
  check: { command: string; timeoutMs: number } | null;
  /** Types of agents that must approve each commit before it is merged; absent for none. */
  review?: readonly string[];
  onConflict: ConflictPolicy;
  /** How often a task is tried again after a failure. */
  retries: number;
  budget: BudgetLimits;
  /** Of the agents that do tasks; null for the session's own. */
  model: string | null;
  /** Of agents in other roles; the session's own, or their type's, where absent. */
  models?: { readonly resolver?: string; readonly reviewer?: string };
  /** What resolving one conflict may cost; absent for no limit of its own. */
  resolveBudgetUsd?: number;
  updateCheckout: boolean;
  /** Whether done tasks are marked in the file. */
  marks: boolean;
  /** Rules that came with the run, beside those of the settings; absent for none. */
  rules?: RunRules;
  /** Where the report goes too: an absolute path. */
  report?: string;
}

/** As people write them: `Bash(npm test:*)`. */
export interface RunRules {
  allow?: readonly string[];
  ask?: readonly string[];
  deny?: readonly string[];
}

/** What may be another when a run is resumed. */
export type RunChange = Partial<
  Pick<
    OperatorRun,
    'budget' | 'parallel' | 'width' | 'check' | 'onConflict' | 'retries' | 'model' | 'models'
  > &
    Pick<OperatorRun, 'resolveBudgetUsd' | 'updateCheckout' | 'marks' | 'rules' | 'report'>
>;
