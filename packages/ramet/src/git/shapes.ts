/**
 * The shapes of git that other rooms know. Types only: importing it loads nothing. Each is declared beside the code that it
 * describes; here they are one door.
 */
export type { GitState, RecentGitState } from './git-state.ts';
export type { ConflictMatrix } from './merge/conflict-matrix.ts';
export type { Integration, IntegrationHead, OpenConflict } from './merge/integration.ts';
export type { MergeEntries, MergeEntry } from './merge/merge-entries.ts';
export type { MergeConflict } from './merge/merge-output.ts';
export type { MergeRepository } from './merge/merge-repository.ts';
export type {
  ConflictResolution,
  MergePorts,
  MergeReport,
  MergeRequest,
  MergeWishes,
} from './merge/merge-request.ts';
export type { CheckOutcome } from './merge/run-check.ts';
export type { BlamedLine } from './provenance/blame-lines.ts';
export type { Provenance } from './provenance/trailers.ts';
export type { FileContents } from './provenance.ts';
export type { Repository } from './repository.ts';
export type { Checkout, LoadCheckouts } from './shared-git/checkout.ts';
export type { KnownFiles } from './worktrees/changes/known-files.ts';
export type { WorktreeVerdict } from './worktrees/changes/verdict.ts';
export type { WorkInFiles } from './worktrees/changes/work-in-time.ts';
export type { GarbageEntry } from './worktrees/removal/collect-garbage.ts';
export type { TrustedCall } from './worktrees/trusted-git.ts';
export type { WorkspacesOptions, WorktreeWorkspaces } from './worktrees/workspace/worktree-workspaces.ts';
export type { ManagedWorktree, VerdictKind, VerdictReason } from './worktrees/worktree.ts';
export type { WorktreePlace } from './worktrees/worktree-place.ts';
