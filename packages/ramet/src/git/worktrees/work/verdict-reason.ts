/** Why a worktree stays. */
export type VerdictKind =
  | 'staged'
  | 'changed'
  | 'untracked'
  | 'hidden'
  | 'precious'
  | 'nested'
  | 'submodule'
  | 'commits'
  | 'detached'
  | 'operation'
  | 'stash'
  | 'locked'
  | 'in_use'
  | 'mount'
  | 'unknown';

export interface VerdictReason {
  kind: VerdictKind;
  /** For people, without the worktree's name. */
  text: string;
  /** How many files or commits it is about, where they were counted. */
  count?: number;
}
