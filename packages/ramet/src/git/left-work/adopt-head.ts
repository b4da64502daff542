/**
 * HEAD of an agent's worktree, put back on the worktree's own branch. Switching HEAD is free to an agent, so what it made elsewhere
 * counts.
 *
 * Invariants
 * 1. A branch moves only forward, to commits that are the agent's own.
 * 2. What is offered has what HEAD has, or the attempt fails with a cause; HEAD on a commit of the target was only a look.
 */
import { existsSync, lstatSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { replaceWhole } from '../../system/replace-whole.ts';
import { keepsRefsInFiles } from '../create-branch.ts';
import { shellWord } from '../merge/merge-advice.ts';
import { isAncestor } from '../merge/merge-repository.ts';
import { isDamagedRef, isPlainRef, readHead } from '../read-refs.ts';
import { type GitCall, gitText, runGit } from '../run-git.ts';
import { lastInLog } from '../special-files.ts';
import { replaceAdminFile } from '../worktrees/register-worktree.ts';
import { copyIndex, withScratch } from '../worktrees/scratch-index.ts';
import { mendHead, type TrustedCall, trustedGit } from '../worktrees/trusted-git.ts';
import type { ManagedWorktree } from '../worktrees/worktree.ts';
import { adminDirectory, type WorktreePlace } from '../worktrees/worktree-place.ts';
import { OURS, otherCommits } from './other-work.ts';
import {
  diverged,
  notItsOwn,
  removalNote,
  shortRef,
  strayObjection,
  tipOf,
  type WorkObjection,
  type WorkReading,
} from './own-commits.ts';

const HEADS = 'refs/heads/';
const ABSENT = '0'.repeat(40);

export interface AdoptedHead {
  objection: WorkObjection | null;
  /** For people, if something was moved. */
  note: string | null;
}

const NOTHING: AdoptedHead = { objection: null, note: null };

/** Puts HEAD on the worktree's own branch, and that on the agent's commits. The files stay as they are. */
export async function adoptHead(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  reading: WorkReading,
): Promise<AdoptedHead> {
  await trustedGit(place, worktree);
  mendHead(place, worktree);
  const { commonDirectory } = place.repository;
  const head = readHead(adminDirectory(place, worktree), commonDirectory);
  const { branch } = worktree;
  if (head === null || branch === null || head.ref === `${HEADS}${branch}`)
    return { objection: null, note: worktree.facts.adopted ?? null };
  if (head.ref !== null && !head.ref.startsWith(OURS)) return NOTHING;
  const { base, call } = reading;
  const where = head.ref === null ? 'no branch' : shortRef(head.ref);
  const note = `its worktree was on ${where}: ${branch} has its work now${removalNote(where)}`;
  const tip = await tipOf(branch, call);
  if (head.commit !== tip) {
    const objection = await otherCommits(place, { worktree, ...head }, reading);
    if (objection !== null) return { objection, note: null };
    if (!(await isAncestor(tip ?? base, head.commit, call))) {
      // What is left can be committed there, and moves no branch.
      if (head.ref !== null) replaceAdminFile(place, worktree, 'HEAD', `${head.commit}\n`);
      return NOTHING;
    }
    remember(place, worktree, note);
    const move = ['update-ref', '--no-deref', '-m', 'ramet operate: its work', `${HEADS}${branch}`];
    await gitText([...move, head.commit, tip ?? ABSENT], call);
  }
  remember(place, worktree, note);
  replaceAdminFile(place, worktree, 'HEAD', `ref: ${HEADS}${branch}\n`);
  return { objection: null, note };
}

/** Before anything moves: after a kill nothing else would show it. */
function remember({ registry }: WorktreePlace, { id }: ManagedWorktree, adopted: string): void {
  const row = registry.find(id);
  if (row !== null && row.facts.adopted !== adopted)
    registry.change(id, [row.state], { facts: { ...row.facts, adopted } });
}

/**
 * A branch that leads to another one, or names no commit, goes back to the last commit that is known for its own, and nothing is
 * taken through it: the files have what the agent did. Says so in one line; null if all is well.
 */
export async function mendOwnBranch(
  { repository }: WorktreePlace,
  { branch, base: began }: ManagedWorktree,
  { base, call }: WorkReading,
): Promise<string | null> {
  if (branch === null) return null;
  const ref = `${HEADS}${branch}`;
  const { commonDirectory } = repository;
  if (isPlainRef(commonDirectory, ref)) return null;
  const isDamaged = keepsRefsInFiles(repository) && isDamagedRef(commonDirectory, ref);
  const led = isDamaged ? null : await runGit(['symbolic-ref', '--quiet', ref], call);
  if (led !== null && led.code !== 0) return null;
  const last = lastInLog(commonDirectory, ref);
  const isOwn = last !== null && (await notItsOwn(last, { base, call })) === null;
  const commit = isOwn ? last : began;
  if (keepsRefsInFiles(repository)) replaceWhole(join(commonDirectory, ref), `${commit}\n`);
  else await gitText(['update-ref', '--no-deref', '-m', 'ramet operate: put right', ref, commit], call);
  if (led === null) return `its branch ${branch} named no commit, and was put on ${commit.slice(0, 12)}`;
  const other = shortRef(led.stdout.trim());
  return `its branch ${branch} led to ${other}, and was put on ${commit.slice(0, 12)}: what its agent committed while it led there is on ${other}, see git log ${shellWord(other)}`;
}

/** Why what HEAD has is not in what its branch has; null if it is. Asked when everything is committed. */
export async function missingFrom(
  { branch, tip }: { branch: string | null; tip: string | null },
  left: string,
  reading: WorkReading,
): Promise<WorkObjection | null> {
  const { base, target, call } = reading;
  if (left === tip || (await isAncestor(left, tip ?? base, call))) return null;
  if (await isAncestor(left, `${HEADS}${target}`, call)) return null;
  const other = await strayObjection({ commit: left, where: null }, reading);
  if (other !== null) return other;
  return diverged(
    `${(tip ?? base).slice(0, 12)} on ${branch ?? 'its branch'}`,
    `${left.slice(0, 12)} on no branch, where its worktree is`,
    'both are kept',
  );
}

/** Where its HEAD is now. */
export async function headOf(place: WorktreePlace, worktree: ManagedWorktree): Promise<string> {
  const read = readHead(adminDirectory(place, worktree), place.repository.commonDirectory);
  return read?.commit ?? gitText(['rev-parse', 'HEAD'], await trustedGit(place, worktree));
}

interface SharedGit {
  worktree: ManagedWorktree;
  call: GitCall;
  /** In its files. */
  here: TrustedCall;
}

/** For a task that has such a checkout to itself: the one before may have left HEAD elsewhere, and its log says what that one did. */
export async function showAfresh(place: WorktreePlace, shared: SharedGit, at: string): Promise<void> {
  const { gitDirectory } = shared.here.checkout;
  const head = readHead(gitDirectory, place.repository.commonDirectory);
  const { branch } = shared.worktree;
  const isThere = head?.commit === at && (branch === null || head.ref === `${HEADS}${branch}`);
  if (!isThere) await showCommit(place, shared, at);
  rmSync(join(gitDirectory, 'logs', 'HEAD'), { force: true });
}

/**
 * What agents see of git in a checkout that tasks share: its own branch, at this commit. Git itself writes nothing where an agent at
 * work could put a link at this moment. One that uses the index now has its lock, and the next move comes.
 */
export async function showCommit(
  { repository, project }: WorktreePlace,
  { worktree: { branch }, call, here }: SharedGit,
  to: string,
): Promise<void> {
  const { gitDirectory } = here.checkout;
  const own = join(gitDirectory, 'index');
  await withScratch(project, async (index) => {
    if (lstatSync(own, { throwIfNoEntry: false })?.isFile()) await copyIndex(own, index).catch(() => {});
    const known = await runGit(['read-tree', '-m', to], { ...call, index });
    const { code } = known.code === 0 ? known : await runGit(['read-tree', to], { ...call, index });
    if (code === 0 && !existsSync(`${own}.lock`)) replaceWhole(own, readFileSync(index));
  });
  const reason = ['-m', 'ramet operate'];
  // Never the branch that an agent may have put there, nor one that it made its own lead to.
  if (branch !== null) await gitText(['update-ref', '--no-deref', ...reason, `${HEADS}${branch}`, to], call);
  const head = branch === null ? to : `ref: ${HEADS}${branch}`;
  if (keepsRefsInFiles(repository)) replaceWhole(join(gitDirectory, 'HEAD'), `${head}\n`);
  else if (branch === null) await gitText(['update-ref', '--no-deref', ...reason, 'HEAD', to], here);
  else await gitText(['symbolic-ref', ...reason, 'HEAD', `${HEADS}${branch}`], here);
}
