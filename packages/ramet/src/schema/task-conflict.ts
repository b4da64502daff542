/** A conflict of a task's work with what others have done: the files, how often it was handed to the policy, and who resolved it. */
export interface TaskConflict {
  files: readonly string[];
  rounds: number;
  /** How many of the rounds were before someone had it done again: they do not count any more. */
  earlier?: number;
  resolvedBy?: readonly ConflictResolver[];
}

/** An agent in a session of its own. */
export interface ConflictResolver {
  agent: string;
  session: string;
  /** A part of what the task has cost; null if unknown. */
  costUsd: number | null;
}

/** The commands with which a person resolves a conflict: those before the files are edited, and those after. */
export interface ConflictSteps {
  readonly merge: readonly string[];
  readonly commit: string;
  /** The run finds the work then. */
  readonly resume: string;
  readonly after: readonly string[];
}
