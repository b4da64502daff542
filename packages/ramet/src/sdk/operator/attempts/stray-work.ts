/**
 * Work that an agent left elsewhere than on the branch of its worktree: on no branch, or on one that it made. Switching HEAD is
 * free to it, so what it made there counts.
 *
 * Invariants
 * 1. A branch moves only forward, to commits that are the agent's own.
 * 2. What is offered has what HEAD has, or the attempt fails with a cause; HEAD on a commit of the target was only a look.
 */
import { join } from 'node:path';
import {
  adminDirectory,
  isDamagedRef,
  isPlainRef,
  keepsRefsInFiles,
  lastInLog,
  mendHead,
  otherBranches,
  readHead,
  replaceAdminFile,
  trustedGit,
} from '../../../git/managed-worktrees.ts';
import { isAncestor, mergeTrees, shellWord } from '../../../git/merges.ts';
import { type GitCall, gitText, isCommitId, runGit } from '../../../git/run-git.ts';
import type { ManagedWorktree, WorktreePlace } from '../../../git/shapes.ts';
import { replaceWhole } from '../../../system/replace-whole.ts';
import { type AttemptObjection, WORK_REFS } from './attempt-pattern.ts';
import { type ChangedPath, changedPaths } from './changed-paths.ts';
import { notItsOwn } from './cloned-tip.ts';

export interface StrayReading {
  /** The commit that it began with. */
  base: string;
  /** The branch that results land on. */
  target: string;
  call: GitCall;
}

const HEADS = 'refs/heads/';
/** Branches that agents may make, also in a sandbox. */
const OURS = `${HEADS}ramet/`;
const ABSENT = '0'.repeat(40);

export interface AdoptedHead {
  objection: AttemptObjection | null;
  /** For people, if something was moved. */
  note: string | null;
}

const NOTHING: AdoptedHead = { objection: null, note: null };

/** Puts HEAD on the worktree's own branch, and that on the agent's commits. The files stay as they are. */
export async function adoptHead(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  reading: StrayReading,
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
  const where = head.ref === null ? 'no branch' : shortName(head.ref);
  const note = `its worktree was on ${where}: ${branch} has its work now`;
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
  { base, call }: StrayReading,
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
  const other = shortName(led.stdout.trim());
  return `its branch ${branch} led to ${other}, and was put on ${commit.slice(0, 12)}: what its agent committed while it led there is on ${other}, see git log ${shellWord(other)}`;
}

/** Commits of an attempt that are elsewhere than on its own branch, where its agent left them. */
interface OtherWork {
  /** To be taken instead: it has everything that its branch has. */
  taken: { where: string; commit: string } | null;
  objection: AttemptObjection | null;
  /** Not taken, and on no branch. */
  loose: string | null;
  /** For people: what was not taken because its agent deleted it. */
  notes: readonly string[];
}

/** `names`: where its agent has put commits (`otherBranches`). */
export async function otherWork(
  place: WorktreePlace,
  { worktree, names, own }: { worktree: ManagedWorktree; names: readonly string[]; own: string },
  reading: StrayReading,
): Promise<OtherWork> {
  const { target, call } = reading;
  const notes: string[] = [];
  let taken: OtherWork['taken'] = null;
  for (const name of names) {
    const left = await leftAt(name, call);
    const known = taken?.commit ?? own;
    if (left === null || left.ref === `${HEADS}${target}`) continue;
    const { ref, commit, where } = left;
    if ((await isAncestor(commit, known, call)) || (await isAncestor(commit, `${HEADS}${target}`, call)))
      continue;
    const has = await hasChangesOf(known, commit, call);
    if (left.isDeleted) {
      if (!has) notes.push(`it deleted ${where} with commit ${commit}, which was not taken`);
      continue;
    }
    const objection = await otherCommits(place, { worktree, ref, commit }, reading);
    const loose = ref === null ? commit : null;
    if (objection !== null) return { taken: null, objection, loose, notes };
    if (await isAncestor(known, commit, call)) taken = { where, commit };
    else if (!has) {
      const lines = [
        `${known.slice(0, 12)} on ${worktree.branch}`,
        `${commit.slice(0, 12)} on ${where}`,
      ] as const;
      return { taken: null, objection: diverged(...lines), loose, notes };
    }
  }
  return { taken, objection: null, loose: null, notes };
}

export interface LeftWork {
  commit: string;
  where: string;
}

/**
 * In a checkout that tasks share only files count. Commits that an agent left elsewhere, and whose changes the files do not have, are
 * put on a ref, and told once: to the task that ends first after them.
 */
export async function leftBeside(
  place: WorktreePlace,
  { worktree, note, call }: { worktree: ManagedWorktree; note: { readonly at: string }; call: GitCall },
  changes: readonly ChangedPath[],
): Promise<LeftWork[]> {
  const has = new Set(changes.map(({ path, mode, id }) => `${path} ${mode} ${id}`));
  const found: LeftWork[] = [];
  for (const name of otherBranches(place, worktree)) {
    const left = await leftAt(name, call);
    if (left === null || left.isDeleted || (await isAncestor(left.commit, note.at, call))) continue;
    const ref = `${WORK_REFS}left/${left.commit}`;
    if ((await runGit(['rev-parse', '--verify', '--quiet', ref], call)).code === 0) continue;
    const { code, stdout } = await runGit(['merge-base', note.at, left.commit], call);
    const made = code === 0 ? await changedPaths(stdout.trim(), left.commit, call) : [];
    if (made.every(({ path, mode, id }) => has.has(`${path} ${mode} ${id}`))) continue;
    await gitText(['update-ref', '--no-deref', '-m', 'ramet operate: left', ref, left.commit], call);
    found.push({ commit: left.commit, where: left.where });
  }
  return found;
}

interface LeftCommits {
  ref: string | null;
  commit: string;
  where: string;
  isDeleted: boolean;
}

/** Null if nothing is there any more. A branch that is gone may have another name now. */
async function leftAt(name: string, call: GitCall): Promise<LeftCommits | null> {
  const [branch = '', gone] = name.split(' ');
  if (isCommitId(name) || gone !== undefined) {
    const id = gone ?? name;
    const there = await runGit(['rev-parse', '--verify', '--quiet', `${id}^{commit}`], call);
    if (there.code !== 0) return null;
    const points = await runGit(['for-each-ref', '--format=%(refname)', `--points-at=${id}`, OURS], call);
    const ref = points.stdout.split('\n')[0] || null;
    if (ref !== null) return { ref, commit: id, where: shortName(ref), isDeleted: false };
    const where = gone === undefined ? 'no branch' : branch;
    return { ref: null, commit: id, where, isDeleted: gone !== undefined };
  }
  const commit = await tipOf(branch, call);
  return commit === null ? null : { ref: `${HEADS}${branch}`, commit, where: branch, isDeleted: false };
}

/** By a squash or a pick, too. */
export async function hasChangesOf(own: string, other: string, call: GitCall): Promise<boolean> {
  const merged = await mergeTrees([own, other], call);
  return merged.clean && merged.tree === (await gitText(['rev-parse', `${own}^{tree}`], call));
}

function diverged(one: string, other: string): AttemptObjection {
  return {
    cause: 'diverged_work',
    message: `its work is in two lines of commits, and neither has all of it: ${one}, and ${other}; both are kept`,
  };
}

/** A commit that the target has was only looked at: there is nothing to take, and nothing to refuse. */
async function otherCommits(
  { registry }: WorktreePlace,
  { worktree, ref, commit }: { worktree: ManagedWorktree; ref: string | null; commit: string },
  reading: StrayReading,
): Promise<AttemptObjection | null> {
  const owner = registry
    .list()
    .find(({ id, branch, state }) => id !== worktree.id && state !== 'gone' && ref === `${HEADS}${branch}`);
  if (owner !== undefined)
    return {
      cause: 'other_commits',
      message: `its worktree was on ${owner.branch}, the branch of another worktree, so its work was not taken: it is in ${worktree.path}`,
    };
  return strayObjection({ commit, where: ref === null ? null : shortName(ref) }, reading);
}

/** Why the commits that HEAD was on cannot be taken; null if they can, or were only looked at. */
export async function strayObjection(
  { commit, where }: { commit: string; where: string | null },
  { base, target, call }: StrayReading,
): Promise<AttemptObjection | null> {
  if (await isAncestor(commit, `${HEADS}${target}`, call)) return null;
  const led = await notItsOwn(commit, { base, call });
  if (led === null || (await isAncestor(commit, base, call))) return null;
  const isBranch = where !== null && where !== commit;
  const named = isBranch ? `${commit} (${where})` : commit;
  const name = shellWord(isBranch ? where : commit);
  const way = `look at it with git log ${base.slice(0, 12)}..${name}, and take it with ramet merge ${name} --into ${shellWord(target)}`;
  return {
    cause: 'other_commits',
    message: `${led}, so its work was not taken: it is commit ${named}; ${way}`,
  };
}

/** Why what HEAD has is not in what its branch has; null if it is. Asked when everything is committed. */
export async function missingFrom(
  { branch, tip }: { branch: string | null; tip: string | null },
  left: string,
  reading: StrayReading,
): Promise<AttemptObjection | null> {
  const { base, target, call } = reading;
  if (left === tip || (await isAncestor(left, tip ?? base, call))) return null;
  if (await isAncestor(left, `${HEADS}${target}`, call)) return null;
  const other = await strayObjection({ commit: left, where: null }, reading);
  if (other !== null) return other;
  return diverged(
    `${(tip ?? base).slice(0, 12)} on ${branch ?? 'its branch'}`,
    `${left.slice(0, 12)} on no branch, where its worktree is`,
  );
}

/** Where its HEAD is now. */
export async function headOf(place: WorktreePlace, worktree: ManagedWorktree): Promise<string> {
  const read = readHead(adminDirectory(place, worktree), place.repository.commonDirectory);
  return read?.commit ?? gitText(['rev-parse', 'HEAD'], await trustedGit(place, worktree));
}

export async function tipOf(branch: string | null, call: GitCall): Promise<string | null> {
  if (branch === null) return null;
  const args = ['rev-parse', '--verify', '--quiet', `${HEADS}${branch}^{commit}`];
  const { code, stdout } = await runGit(args, call);
  return code === 0 ? stdout.trim() : null;
}

function shortName(ref: string): string {
  return ref.replace(HEADS, '');
}
