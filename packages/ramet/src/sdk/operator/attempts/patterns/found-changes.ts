/** Changes that are found in a checkout that tasks share, and whose work they count as. */
import type { ChangedPath, LeftCommit } from '../../../../git/left-work.ts';
import type { ManagedWorktree, WorktreePlace } from '../../../../git/shapes.ts';
import type { AttemptRefs } from '../attempt-refs.ts';

export interface FoundChanges {
  own: ChangedPath[];
  /** Of nobody that is known. */
  strays: ChangedPath[];
  /** Repositories inside that are nobody's but its own: they fit into no commit, and were moved to `folder`. */
  nested: NestedFolders | null;
  /** For people, one line each: what an agent had made lead git elsewhere and was put right; refs that nobody knows. */
  notes: readonly string[];
  /** Commits that its agent left beside its files. */
  left: readonly LeftCommit[];
}

/** The refs that its agent made. */
export type FindRefs = (place: WorktreePlace, worktree: ManagedWorktree) => Promise<AttemptRefs>;

export interface NestedFolders {
  readonly names: readonly string[];
  readonly folder: string;
}

/** What came of the end of a task: `paths` are on a ref, and are taken back now or before the next one begins. */
export interface EndedTask<Result> {
  result: Result;
  paths: readonly ChangedPath[];
  takeBack: boolean;
}
