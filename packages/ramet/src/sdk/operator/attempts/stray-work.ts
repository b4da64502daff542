/**
 * Work that an agent left elsewhere than on the branch of its worktree: on no branch, or on one that it made. Switching HEAD is
 * free to it, so what it made there counts.
 *
 * Invariants
 * 1. A branch moves only forward, to commits that are the agent's own.
 * 2. What is offered has what HEAD has, or the attempt fails with a cause; HEAD on a commit of the target was only a look.
 */
import {
  adminDirectory,
  isPlainRef,
  readHead,
  replaceAdminFile,
  trustedGit,
} from '../../../git/managed-worktrees.ts';
import { type GitCall, gitText, runGit } from '../../../git/run-git.ts';
import type { ManagedWorktree, WorktreePlace } from '../../../git/shapes.ts';
import type { AttemptObjection } from './attempt-pattern.ts';
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
  const { commonDirectory } = place.repository;
  const head = readHead(adminDirectory(place, worktree), commonDirectory);
  const { branch } = worktree;
  if (head === null || branch === null || head.ref === `${HEADS}${branch}`) return NOTHING;
  if (head.ref !== null && !head.ref.startsWith(OURS)) return NOTHING;
  const { base, call } = reading;
  const tip = await tipOf(branch, call);
  // One that leads to another branch: nothing moves through it.
  if (tip !== null && !(await isPlain(branch, { commonDirectory, call }))) return NOTHING;
  if (head.commit !== tip) {
    const objection = await otherCommits(place, { worktree, ...head }, reading);
    if (objection !== null) return { objection, note: null };
    if (!(await isIn(tip ?? base, head.commit, call))) {
      // What is left can be committed there, and moves no branch.
      if (head.ref !== null) replaceAdminFile(place, worktree, 'HEAD', `${head.commit}\n`);
      return NOTHING;
    }
    const move = ['update-ref', '--no-deref', '-m', 'ramet operate: its work', `${HEADS}${branch}`];
    await gitText([...move, head.commit, tip ?? ABSENT], call);
  }
  replaceAdminFile(place, worktree, 'HEAD', `ref: ${HEADS}${branch}\n`);
  const where = head.ref === null ? 'no branch' : shortName(head.ref);
  return { objection: null, note: `its worktree was on ${where}: ${branch} has its work now` };
}

async function isPlain(
  branch: string,
  { commonDirectory, call }: { commonDirectory: string; call: GitCall },
): Promise<boolean> {
  if (isPlainRef(commonDirectory, `${HEADS}${branch}`)) return true;
  return (await runGit(['symbolic-ref', '--quiet', `${HEADS}${branch}`], call)).code === 1;
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
  if (await isIn(commit, `${HEADS}${target}`, call)) return null;
  const led = await notItsOwn(commit, { base, call });
  if (led === null || (await isIn(commit, base, call))) return null;
  const named = where === null || where === commit ? commit : `${commit} (${where})`;
  return { cause: 'other_commits', message: `${led}, so its work was not taken: it is commit ${named}` };
}

/** Why what HEAD has is not in what its branch has; null if it is. Asked when everything is committed. */
export async function missingFrom(
  { branch, tip }: { branch: string | null; tip: string | null },
  left: string,
  reading: StrayReading,
): Promise<AttemptObjection | null> {
  const { base, target, call } = reading;
  if (left === tip || (await isIn(left, tip ?? base, call))) return null;
  if (await isIn(left, `${HEADS}${target}`, call)) return null;
  const other = await strayObjection({ commit: left, where: null }, reading);
  if (other !== null) return other;
  const own = `${(tip ?? base).slice(0, 12)} on ${branch ?? 'its branch'}`;
  return {
    cause: 'diverged_work',
    message: `its work is in two lines of commits, and neither has all of it: ${own}, and ${left.slice(0, 12)} on no branch, where its worktree is; both are kept`,
  };
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

async function isIn(commit: string, other: string, call: GitCall): Promise<boolean> {
  return (await runGit(['merge-base', '--is-ancestor', commit, other], call)).code === 0;
}

function shortName(ref: string): string {
  return ref.replace(HEADS, '');
}
