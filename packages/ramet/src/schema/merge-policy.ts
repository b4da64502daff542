/** The choices for a merge. */
export const MERGE_STRATEGIES = ['merge', 'squash', 'rebase', 'cherry-pick'] as const;
export type MergeStrategy = (typeof MERGE_STRATEGIES)[number];

/**
 * What happens to a branch that conflicts: it stays for a person; it is tried again, commit by commit, when
 * the others are in; or a resolver is asked.
 */
export const CONFLICT_POLICIES = ['person', 'retry', 'resolve'] as const;
export type ConflictPolicy = (typeof CONFLICT_POLICIES)[number];
