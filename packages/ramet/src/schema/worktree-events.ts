/** Where agents work, as it is recorded: worktrees of their own (WORK-2), and changes of directory. */

export interface RecordedWorktree {
  /** The registry's name for it. */
  id: string;
  path: string;
  branch: string | null;
  /** The commit it began with. */
  base: string;
  /** The checkout it was made from. */
  from: string;
  /** The checkouts that one was made from in turn: paths of them mean this worktree too (FORK-6). */
  inherited?: string[];
  /** Others work in it too. `only`: what its agent may write of it, from its root; null for everything. */
  shared?: { only: string[] | null };
  /** It is a clone of the repository, not a worktree of it, and of an agent of that session. */
  clone?: { session: string };
}

/** An agent was given a worktree that is proved to be one; written when the agent is known. */
interface WorktreeCreated extends RecordedWorktree {
  type: 'worktree.created';
  /** `claimed` and `moved`: from the pool. `restored`: it had it before. `hook`: a hook of the user made it. */
  how: 'made' | 'claimed' | 'moved' | 'restored' | 'hook';
  /** What was uncommitted in that checkout, in number of files; null when git could not tell. */
  dirty: { policy: 'carry' | 'exclude' | 'refuse'; files: number | null };
  ms: number;
}

/** What it held at that moment can be had back from here (WORK-3). */
interface WorktreeCheckpointed {
  type: 'worktree.checkpointed';
  ref: string;
  commit: string;
}

/** The agent gave it back. One that is not kept held nothing. */
interface WorktreeReleased extends RecordedWorktree {
  type: 'worktree.released';
  kept: boolean;
  /** Why it is kept. */
  reasons: string[];
  /** What HEAD was on when not on its branch: another branch, or a commit's id. */
  head?: string;
  /** Of one that is not kept: the commit that it ended on, if it began with another. */
  tip?: string;
  /**
   * Branches besides its own that its agent has put commits on; a commit that it left on none; one that is gone, and its commit; `@` or
   * `~` and a commit that a reset, or an amend or rebase, took off its branch.
   */
  others?: string[];
  /** What changed meanwhile in the checkout it was made from, and nobody known did it (WORK-9); absent for nothing. */
  checkoutChanges?: string[];
}

/** The agent works elsewhere from here on; null when that is no worktree of its own. */
interface DirectoryChanged {
  type: 'directory.changed';
  cwd: string;
  worktree: RecordedWorktree | null;
  /** In a worktree: where the agent was before, and goes back to. Earlier versions did not record it. */
  outside?: string;
}

export type WorktreeEvent = WorktreeCreated | WorktreeCheckpointed | WorktreeReleased | DirectoryChanged;
