/** Commits that an agent left elsewhere than on the branch of its worktree, or beside the files of a checkout that tasks share. */
import { changedPaths } from '../changed-paths.ts';
import { isAncestor } from '../merge/merge-repository.ts';
import { type GitCall, gitText, isCommitId, runGit } from '../run-git.ts';
import { otherBranches } from '../worktrees/changes/held-commits.ts';
import type { ManagedWorktree } from '../worktrees/worktree.ts';
import type { WorktreePlace } from '../worktrees/worktree-place.ts';
import type { FreshRef } from './fresh-refs.ts';
import {
  deletedNote,
  hasChangesOf,
  type LeftCommit,
  shortRef,
  strayObjection,
  tipOf,
  type WholeWork,
  type WorkObjection,
  type WorkReading,
  wholeWork,
} from './own-commits.ts';

const HEADS = 'refs/heads/';
/** Branches that agents may make, also in a sandbox. */
export const OURS: string = `${HEADS}ramet/`;

interface LeftAt extends Omit<LeftCommit, 'objection'> {
  ref: string | null;
}

export interface OtherWork extends WholeWork {
  /** Speaks against it, and is on no branch. */
  loose: string | null;
}

export interface OwnWork {
  worktree: ManagedWorktree;
  /** Where its agent has put commits (`otherBranches`). */
  names: readonly string[];
  /** Refs that it made (`freshRefs`). */
  refs: readonly FreshRef[];
  /** The commit that is expected to have its work. */
  own: string;
}

export async function otherWork(
  place: WorktreePlace,
  { worktree, names, refs, own }: OwnWork,
  reading: WorkReading,
): Promise<OtherWork> {
  const { target, call } = reading;
  const left: (LeftCommit & LeftAt)[] = [];
  for (const name of names) {
    const one = await leftAt(name, call);
    if (one === null || one.ref === `${HEADS}${target}`) continue;
    if (
      (await isAncestor(one.commit, own, call)) ||
      (await isAncestor(one.commit, `${HEADS}${target}`, call))
    )
      continue;
    const objection = one.isDeleted ? null : await otherCommits(place, { worktree, ...one }, reading);
    left.push({ ...one, objection });
  }
  const others = refs.filter(({ commit }) => left.every((one) => one.commit !== commit));
  const onRefs = await leftOnRefs(others, own, reading);
  for (const one of onRefs.left) {
    const objection = await otherCommits(place, { worktree, ...one }, reading);
    left.push({ ...one, objection });
  }
  const sides = { own, name: worktree.branch, isClean: true, kept: 'both are kept' };
  const whole = await wholeWork(sides, left, call);
  const against = left.find((one) => one === whole.against);
  const notes = [...onRefs.notes, ...whole.notes];
  return { ...whole, notes, loose: against !== undefined && against.ref === null ? against.commit : null };
}

/** What an agent put on refs without being there. What is no part of its work is only told. */
export async function leftOnRefs(
  refs: readonly FreshRef[],
  own: string,
  { base, call }: Pick<WorkReading, 'base' | 'call'>,
): Promise<{ left: (LeftCommit & LeftAt)[]; notes: string[] }> {
  const left: (LeftCommit & LeftAt)[] = [];
  const notes: string[] = [];
  for (const { ref, commit } of refs) {
    const where = shortRef(ref);
    if (left.some((one) => one.commit === commit) || (await isAncestor(commit, own, call))) continue;
    if (!(await isAncestor(base, commit, call)))
      notes.push(`it made ${where} with commit ${commit}, not on top of what it began with: not taken`);
    else if (await hasChangesOf(own, commit, call)) continue;
    else if (await isEarlier(commit, own, { base, call }))
      notes.push(`it left commit ${commit} on ${where}, and has changed the same files since: not taken`);
    else left.push({ ref, commit, where, isDeleted: false, objection: null });
  }
  return { left, notes };
}

/** Whether all that it changed was changed otherwise later: as people keep what they are about to rewrite. */
async function isEarlier(
  commit: string,
  own: string,
  { base, call }: Pick<WorkReading, 'base' | 'call'>,
): Promise<boolean> {
  if (own === base) return false;
  const now = new Set((await changedPaths(base, own, call)).map(({ path }) => path));
  return (await changedPaths(base, commit, call)).every(({ path }) => now.has(path));
}

/** A commit that the target has was only looked at: there is nothing to take, and nothing to refuse. */
export async function otherCommits(
  { registry }: WorktreePlace,
  { worktree, ref, commit }: { worktree: ManagedWorktree; ref: string | null; commit: string },
  reading: WorkReading,
): Promise<WorkObjection | null> {
  const owner = registry
    .list()
    .find(({ id, branch, state }) => id !== worktree.id && state !== 'gone' && ref === `${HEADS}${branch}`);
  if (owner !== undefined)
    return {
      cause: 'other_commits',
      message: `its worktree was on ${owner.branch}, the branch of another worktree, so its work was not taken: it is in ${worktree.path}`,
    };
  return strayObjection({ commit, where: ref === null ? null : shortRef(ref) }, reading);
}

/** Null if nothing is there any more. A branch that is gone may have another name now. */
async function leftAt(name: string, call: GitCall): Promise<LeftAt | null> {
  const [branch = '', gone] = name.split(' ');
  // No longer on its branch: it may be on a ref (`freshRefs`).
  if (branch === '@' || branch === '~') return null;
  if (isCommitId(name) || gone !== undefined) {
    const id = gone ?? name;
    const there = await runGit(['rev-parse', '--verify', '--quiet', `${id}^{commit}`], call);
    if (there.code !== 0) return null;
    const points = await runGit(['for-each-ref', '--format=%(refname)', `--points-at=${id}`, OURS], call);
    const ref = points.stdout.split('\n')[0] || null;
    if (ref !== null) return { ref, commit: id, where: shortRef(ref), isDeleted: false };
    const where = gone === undefined ? 'no branch' : branch;
    return { ref: null, commit: id, where, isDeleted: gone !== undefined };
  }
  const commit = await tipOf(branch, call);
  return commit === null ? null : { ref: `${HEADS}${branch}`, commit, where: branch, isDeleted: false };
}

export interface LeftBeside {
  worktree: ManagedWorktree;
  /** The commit that its files began with. */
  at: string;
  /** The tree of its files. */
  files: string;
  /** Refs that its agent made (`freshRefs`). */
  refs: readonly FreshRef[];
  /** Below this are refs that keep what was left. */
  kept: string;
}

/**
 * In a checkout that tasks share only files count. Commits that an agent left elsewhere, and whose changes the files do not have, are
 * put on a ref, and told once: to the task that ends first after them.
 */
export async function leftBeside(
  place: WorktreePlace,
  { worktree, at, files, refs, kept }: LeftBeside,
  call: GitCall,
): Promise<{ left: LeftCommit[]; notes: string[] }> {
  const found: LeftCommit[] = [];
  const notes: string[] = [];
  const places: LeftAt[] = refs.map((one) => ({ ...one, where: shortRef(one.ref), isDeleted: false }));
  for (const name of otherBranches(place, worktree)) {
    const left = await leftAt(name, call);
    if (left !== null) places.push(left);
  }
  for (const left of places) {
    if (await isAncestor(left.commit, at, call)) continue;
    const ref = `${kept}${left.commit}`;
    if ((await runGit(['rev-parse', '--verify', '--quiet', ref], call)).code === 0) continue;
    const { code, stdout } = await runGit(['merge-base', at, left.commit], call);
    const made = await changedPaths(code === 0 ? stdout.trim() : at, left.commit, call);
    const other = new Set((await changedPaths(files, left.commit, call)).map(({ path }) => path));
    if (made.every(({ path }) => !other.has(path))) continue;
    if (left.isDeleted) {
      notes.push(deletedNote(left));
      continue;
    }
    await gitText(['update-ref', '--no-deref', '-m', 'ramet operate: left', ref, left.commit], call);
    found.push({ ...left, objection: null });
  }
  return { left: found, notes };
}
