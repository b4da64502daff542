/** What somebody chooses for a merge. */
export const MERGE_STRATEGIES = ['merge', 'squash', 'rebase', 'cherry-pick'] as const;
export type MergeStrategy = (typeof MERGE_STRATEGIES)[number];

/**
 * What becomes of a branch that conflicts: it stays on its branch for a person; it is tried again, commit by commit, when
 * the others are in; or a resolver is asked.
 */
export const CONFLICT_POLICIES = ['person', 'retry', 'resolve'] as const;
export type ConflictPolicy = (typeof CONFLICT_POLICIES)[number];
