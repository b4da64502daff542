/**
 * Work in progress as a commit on a private ref (WORK-3): everything in the tree that git does not ignore, and before
 * a removal also what it ignores and may be the only copy, through a copy of the index, so that the agent's own index and branch stay as they are. What was staged and looks different
 * in the files is kept beside it. After a crash, a stray `reset --hard` or a forced removal it is still there.
 *
 * Invariants
 * 1. The ref moves in one step, from a complete commit to a complete commit.
 * 2. A tree that looks as it did at the last checkpoint makes no commit.
 */
import { join } from 'node:path';
import { removeLeftLocks } from '../../left-locks.ts';
import { readHead, readRef } from '../../read-refs.ts';
import { type GitCall, gitText, runGit } from '../../run-git.ts';
import { trustedGit } from '../trusted-git.ts';
import type { ManagedWorktree } from '../worktree.ts';
import { excludeSettings } from '../worktree-environment.ts';
import { adminDirectory, type WorktreePlace } from '../worktree-place.ts';
import { type AlsoKept, checkoutTrees } from './dirty-work.ts';

export interface Checkpoint {
  /** `refs/ramet/wip/<agent>`. */
  ref: string;
  /** Null when there is nothing to keep: the files are those of a commit on a branch. */
  commit: string | null;
  /** Whether anything was written. */
  isNew: boolean;
  /** Repositories inside the tree that it does not hold, by folder. */
  leftOut: readonly string[];
}

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Ramet',
  GIT_AUTHOR_EMAIL: 'ramet@localhost',
  GIT_COMMITTER_NAME: 'Ramet',
  GIT_COMMITTER_EMAIL: 'ramet@localhost',
};

export function checkpointRef(worktree: Pick<ManagedWorktree, 'id' | 'owner'>): string {
  return `refs/ramet/wip/${worktree.owner?.agent ?? worktree.id}`;
}

/** Throws when the tree cannot be read whole: a checkpoint with holes would pass for one without. */
export async function checkpoint(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  reason = 'work in progress',
  also?: AlsoKept,
): Promise<Checkpoint> {
  const own = await trustedGit(place, worktree);
  const call = { ...own, env: { ...place.env, ...IDENTITY } };
  const ref = checkpointRef(worktree);
  place.onStep('checkpoint begun');
  // A git of its agent that was killed has left them, and its agent may not remove them: they are outside its worktree.
  const admin = adminDirectory(place, worktree);
  await removeLeftLocks([join(admin, 'index'), join(admin, 'HEAD')], worktree.path);
  const trees = await checkoutTrees(own, {
    scratch: adminDirectory(place, worktree),
    settings: excludeSettings(place, worktree),
    also,
  });
  const { leftOut } = trees;
  place.onStep('checkpoint trees written');
  const known = readKnown(place, worktree, ref) ?? (await knownTrees(own, ref));
  if (trees.files === known.last) return { ref, commit: known.commit, isNew: false, leftOut };
  const isStagedApart = trees.staged !== null && trees.staged !== trees.files && trees.staged !== known.head;
  if (trees.files === known.head && !isStagedApart && known.commit === null && !isDetached(place, worktree)) {
    return { ref, commit: null, isNew: false, leftOut };
  }
  const parents = ['-p', known.at];
  if (isStagedApart && trees.staged !== null) {
    const staged = ['commit-tree', trees.staged, '-p', known.at, '-m', `ramet: staged, ${reason}`];
    parents.push('-p', await gitText(staged, call));
  }
  const message = `ramet: ${reason} in ${worktree.name}`;
  const commit = await gitText(['commit-tree', trees.files, ...parents, '-m', message], call);
  place.onStep('checkpoint committed');
  // Checkpoints of one agent come one after the other, so it is that of a git that was killed.
  await removeLeftLocks([join(place.repository.commonDirectory, ref)]);
  await gitText(['update-ref', '--no-deref', '--create-reflog', '-m', reason, ref, commit], call);
  noteTree(commit, trees.files);
  return { ref, commit, isNew: true, leftOut };
}

interface KnownTrees {
  /** Where HEAD is. */
  at: string;
  /** The last checkpoint, and its tree. */
  commit: string | null;
  last: string | null;
  head: string | null;
}

async function knownTrees(call: GitCall, ref: string): Promise<KnownTrees> {
  const args = ['rev-parse', '--revs-only', 'HEAD', 'HEAD^{tree}', ref, `${ref}^{tree}`];
  const { stdout } = await runGit(args, call);
  const [at, head = null, commit = null, last = null] = stdout.split('\n').filter(Boolean);
  noteTree(at, head);
  noteTree(commit, last);
  return { at: at ?? (await gitText(['rev-parse', '--verify', 'HEAD'], call)), commit, last, head };
}

/** Trees by commit, which never change. Of the process: worktrees of one run begin with the same commit. */
const treeOf = new Map<string, string>();
const MOST_TREES = 1_000;

function noteTree(commit: string | null | undefined, tree: string | null): void {
  if (commit == null || tree === null) return;
  if (treeOf.size >= MOST_TREES) treeOf.clear();
  treeOf.set(commit, tree);
}

/** From files, where both commits are known from before. Null where git has to be asked. */
function readKnown(place: WorktreePlace, worktree: ManagedWorktree, ref: string): KnownTrees | null {
  const { commonDirectory } = place.repository;
  const at = readHead(adminDirectory(place, worktree), commonDirectory)?.commit;
  const commit = readRef(commonDirectory, ref);
  if (at === undefined || commit === null) return null;
  const [head, last] = [treeOf.get(at), treeOf.get(commit)];
  return head === undefined || last === undefined ? null : { at, commit, head, last };
}

/** Without a branch, nothing but a checkpoint leads to its commits. */
function isDetached(place: WorktreePlace, worktree: ManagedWorktree): boolean {
  return readHead(adminDirectory(place, worktree), place.repository.commonDirectory)?.ref == null;
}
