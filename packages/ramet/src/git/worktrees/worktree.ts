/** A worktree that Ramet made and answers for, as the registry knows it. */
import type { ProcessIdentity } from '../../system/processes/process-identity.ts';

/**
 * - `making`, `claiming`: on its way to its owner, nobody has worked in it;
 * - `leased`: in use;
 * - `released`: given back, and there: it waits for a verdict or has changes;
 * - `resetting`, `ready`: on its way into the pool, and in it;
 * - `trashed`: on its way out;
 * - `gone`: remembered, so that it can come back at the same place.
 */
const WORKTREE_STATES = [
  'making',
  'claiming',
  'leased',
  'released',
  'resetting',
  'ready',
  'trashed',
  'gone',
] as const;
export type WorktreeState = (typeof WORKTREE_STATES)[number];

export interface WorktreeOwner {
  session: string;
  agent: string;
}

/** A folder of installed packages, linked from a template of ours. */
export interface LinkedDependencies {
  /** Relative to the worktree. */
  directory: string;
  /** The template's name. */
  template: string;
  /** Which making of it: one that was changed in place is made again. */
  making?: string | undefined;
}

/** Which part of the files is checked out, as git has it. */
export interface SparsePatterns {
  text: string;
  isCone: boolean;
}

export interface WorktreeFacts {
  /** The branch of the asking checkout, `refs/heads/main`: where its commits are expected to arrive. */
  target: string | null;
  /** Files brought along by `worktree.copy`, with the digest of what was brought. */
  copied: Readonly<Record<string, string>>;
  /** Symbolic links of ours to directories of the asking checkout. */
  links: readonly string[];
  dependencies: readonly LinkedDependencies[];
  sparse: readonly string[];
  /** The patterns of a sparse checkout that it was made from. */
  patterns?: SparsePatterns | undefined;
  /** Uncommitted work that came along, as trees: what was staged, and the files. */
  carried?: { staged: string | null; files: string } | undefined;
  /** Its branch was there before: undoing it leaves the branch alone. */
  hadBranch?: boolean | undefined;
  /** On its way into the pool: the branch it was on, which goes if nothing depends on it. */
  formerBranch?: string | undefined;
  /** And the commit that the branch began with. */
  formerBase?: string | undefined;
  /** In the pool: what it takes on the disk. */
  bytes?: number | undefined;
  /** Its `changed` when templates of its packages were last looked at with nobody at work in it. */
  packagesSeen?: number | undefined;
  /** What a list found in its files, when, and at which state of its index. */
  work?: { at: number; reasons: readonly VerdictReason[]; index: string } | undefined;
  /** Where its HEAD was before it was put on its branch, in one line for people. */
  adopted?: string | undefined;
  /** The setup command that has run in it. */
  setup?: string | undefined;
  /** Nothing in it is ever work: it is tried out and thrown away (BG-2). */
  throwaway?: true | undefined;
  /** It is gone, and its branch was left to `deleteLeftBranches`. */
  leftBranch?: true | undefined;
  /** A hook of the user has made its directory (`hooked/`): the branch it was on, and how long the log of its HEAD was then. */
  hook?: { branch: string | null; isNewBranch: boolean; logBytes: number } | undefined;
  /**
   * A hook that may make a directory in its place is at work, or was when its process ended: registrations of worktrees that were there
   * before, and what of those that came since it has left.
   */
  hookRun?: { known: readonly string[]; left?: readonly string[] } | undefined;
  /** Where it is while it changes places: from the pool, or to the trash. */
  elsewhere?: string | undefined;
}

export interface ManagedWorktree {
  id: string;
  name: string;
  path: string;
  /** `ramet/<name>`; null in the pool. */
  branch: string | null;
  /** The commit it began with. */
  base: string;
  state: WorktreeState;
  owner: WorktreeOwner | null;
  /** The process that uses it. */
  lease: ProcessIdentity | null;
  slot: number;
  /** Its directory in `worktrees/` of the shared git directory. One that a hook had made may have the name of an earlier one. */
  admin: string;
  created: number;
  changed: number;
  facts: WorktreeFacts;
}

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
  /** Of commits without a branch: the last one. */
  tip?: string;
}
