/** The pattern `worktree`: each attempt in a worktree and on a branch of its own. */
import { existsSync } from 'node:fs';
import {
  adoptHead,
  changedPaths,
  headOf,
  mendOwnBranch,
  missingFrom,
  type OwnWork,
  otherWork,
  ownLog,
  strayObjection,
  takenNote,
  tipOf,
  type WorkReading,
} from '../../../../git/left-work.ts';
import {
  adminDirectory,
  keepsRefsInFiles,
  otherBranches,
  readHead,
  replaceAdminFile,
  sweepShared,
  takeRepairs,
} from '../../../../git/managed-worktrees.ts';
import { isAncestor } from '../../../../git/merges.ts';
import { type GitCall, gitText, isCommitId } from '../../../../git/run-git.ts';
import type { ManagedWorktree, WorktreePlace } from '../../../../git/shapes.ts';
import type { AttemptOrder } from '../../../../operator/run/ports.ts';
import { RametError, UserMistake } from '../../../../schema/errors.ts';
import { giveWay } from '../../../../system/give-way.ts';
import { commitFiles, type WorktreeCommit } from '../../../worktrees/commit-worktree.ts';
import { findWorktree } from '../../../worktrees/open-place.ts';
import { attemptRefs, type RefWitness } from '../attempt-refs.ts';
import {
  type AttemptObjection,
  type AttemptPattern,
  type AttemptSite,
  type AttemptWork,
  type EndedAgent,
  taskLine,
  workRef,
} from './attempt-pattern.ts';
import { nestedObjection, strayLinks } from './nested-repositories.ts';
import { submoduleObjection } from './submodule-objection.ts';

/** Each attempt in a worktree that begins at the private ref, on a branch of its own. */
export function worktreePattern(place: WorktreePlace, witness: RefWitness): AttemptPattern {
  const said: string[] = [];
  return {
    isolation: 'worktree',
    prepare: async ({ attempt: { base } }) => ({
      ...{ isolation: 'worktree', needsSetup: true, ...(base !== null && { worktreeBase: base }) },
    }),
    async siteOf(_, agent): Promise<AttemptSite> {
      const worktree = ownWorktree(agent, place);
      return { branch: worktree?.branch ?? null, path: worktree?.path ?? null };
    },
    async collect(order, ended) {
      const tell = (note: string): void => void said.push(note);
      return committedWork(order, ended, { place, witness, tell }).catch((error: unknown) => {
        if (error instanceof UserMistake && error.code === 'other_branch') detach(ended.id, place);
        throw error;
      });
    },
    notes(_, { id }) {
      const worktree = ownWorktree(id, place);
      return [...(worktree === null ? [] : takeRepairs(worktree)), ...said.splice(0)];
    },
  };
}

/** Its files stay as they are. While it is on a branch of another, such as the target, that branch counts as checked out there. */
function detach(agent: string, place: WorktreePlace): void {
  const worktree = ownWorktree(agent, place);
  if (worktree === null || !keepsRefsInFiles(place.repository)) return;
  const head = readHead(adminDirectory(place, worktree), place.repository.commonDirectory);
  if (head !== null) replaceAdminFile(place, worktree, 'HEAD', `${head.commit}\n`);
}

function ownWorktree(agent: string, place: WorktreePlace): ManagedWorktree | null {
  try {
    return findWorktree(place, agent);
  } catch (error) {
    if (error instanceof UserMistake) return null;
    throw error;
  }
}

interface TakenWork {
  /** What holds the commit. */
  branch: string | null;
  commit: string | null;
  /** Repositories inside. */
  leftOut: readonly string[];
}

/** Commits what its agent left uncommitted. Null if there is nothing that its base has not. */
async function committedWork(
  order: AttemptOrder,
  ended: EndedAgent,
  { place, witness, tell }: Pick<Taking, 'place' | 'tell'> & { witness: RefWitness },
): Promise<AttemptWork | AttemptObjection | null> {
  await giveWay();
  // Of agents that are still at work: git is about to read every branch.
  await sweepShared(place.repository.commonDirectory);
  const worktree = findWorktree(place, ended.id);
  const call = { cwd: place.repository.root, env: place.env };
  const base = order.attempt.base ?? worktree.base;
  const isThere = ended.isKept && worktree.state !== 'gone';
  const names = isThere ? otherBranches(place, worktree) : (ended.others ?? []);
  const log = isThere ? ownLog(place, worktree) : await clearedLog(ended, names, call);
  const refs = await attemptRefs(order, ended.id, { place, worktree, log, witness });
  for (const note of refs.notes) tell(note);
  const mine = refs.own.map(({ ref }) => ref);
  const taking = { place, worktree, tell, reading: { base, target: order.run.target, mine, call } };
  const taken = isThere ? await takenFrom(order, taking) : await clearedWork(order, ended, taking);
  if ('cause' in taken) return taken;
  const found = await withOthers(taken, { names, refs: refs.own }, { ...taking, order });
  if ('cause' in found) return found;
  const { branch, commit, leftOut } = found;
  const changes = commit === null || commit === base ? [] : await changedPaths(base, commit, call);
  const links = commit === null ? [] : await strayLinks(commit, changes, call);
  const nested = [...new Set([...leftOut, ...links])];
  if (nested.length > 0) return nestedObjection(nested);
  if (commit === null || changes.length === 0) return null;
  const site = { commonDirectory: place.repository.commonDirectory, directory: worktree.path, call };
  const unshared = await submoduleObjection(order, { commit, branch, changes }, site);
  if (unshared !== null) return unshared;
  return { commit, branch, files: changes.map(({ path }) => path) };
}

/** What is known of the log of its HEAD when that is gone. */
async function clearedLog(
  { tip }: EndedAgent,
  names: readonly string[],
  call: GitCall,
): Promise<{ made: Set<string>; replaced: Set<string> }> {
  const made = new Set(tip === undefined ? [] : [tip]);
  const replaced = new Set<string>();
  for (const name of names) {
    const id = name.split(' ').find(isCommitId) ?? (await tipOf(name, call));
    if (id !== null) (name.startsWith('~') ? replaced : made).add(id);
  }
  return { made, replaced };
}

/** What its agent committed elsewhere, and then left. A ref of ours holds it: that branch may go at any moment, if there is one. */
async function withOthers(
  taken: TakenWork,
  left: Pick<OwnWork, 'names' | 'refs'>,
  { place, worktree, reading, tell, order: { run, attempt } }: Taking & { order: AttemptOrder },
): Promise<TakenWork | AttemptObjection> {
  if (left.names.length + left.refs.length === 0) return taken;
  const own = taken.commit ?? reading.base;
  const other = await otherWork(place, { worktree, ...left, own }, reading);
  for (const note of other.notes) tell(note);
  const ref = workRef(run, attempt.name);
  const hold = (commit: string): Promise<string> =>
    gitText(['update-ref', '--no-deref', ref, commit], reading.call);
  if (other.loose !== null) await hold(other.loose);
  if (other.objection !== null) return other.objection;
  if (other.taken === null) return taken;
  const { where, commit } = other.taken;
  tell(takenNote(where, worktree.branch));
  await hold(commit);
  return { ...taken, branch: ref, commit };
}

interface Taking {
  place: WorktreePlace;
  worktree: ManagedWorktree;
  reading: WorkReading;
  tell: (note: string) => void;
}

async function takenFrom(
  { task }: AttemptOrder,
  { place, worktree, reading, tell }: Taking,
): Promise<TakenWork | AttemptObjection> {
  const mended = await mendOwnBranch(place, worktree, reading);
  if (mended !== null) tell(mended);
  if (!existsSync(worktree.path)) return branchWork(worktree, reading);
  const { objection, note } = await adoptHead(place, worktree, reading);
  if (objection !== null) return objection;
  const made = await commitRest(place, worktree, task);
  // A commit that was just made there moved the branch by compare and swap.
  const isMade = made !== null && made.branch !== null && made.branch === worktree.branch;
  const work = isMade
    ? { branch: made.branch, commit: made.commit, leftOut: [] }
    : await branchWork(worktree, reading);
  const left = made?.commit ?? (await headOf(place, worktree));
  const missing = await missingFrom({ branch: work.branch, tip: work.commit }, left, reading);
  if (missing !== null) return missing;
  if (note !== null && work.commit !== reading.base) tell(note);
  return { ...work, leftOut: made?.leftOut ?? [] };
}

async function branchWork({ branch }: ManagedWorktree, { call }: WorkReading): Promise<TakenWork> {
  return { branch, commit: await tipOf(branch, call), leftOut: [] };
}

/** Of one that is cleared away, because others lead to its commits: its branch may go at any moment, so a ref of ours holds them. */
async function clearedWork(
  { run, attempt }: AttemptOrder,
  { head, tip }: EndedAgent,
  { worktree, reading, tell }: Taking,
): Promise<TakenWork | AttemptObjection> {
  const { call, target } = reading;
  if (tip === undefined) return branchWork(worktree, reading);
  if (head !== undefined) {
    const objection = await strayObjection({ commit: tip, where: head }, reading);
    if (objection !== null) return objection;
    if (await isAncestor(tip, `refs/heads/${target}`, call)) return branchWork(worktree, reading);
    const where = head === tip ? `commit ${tip.slice(0, 12)}` : head;
    tell(takenNote(where, worktree.branch));
  }
  const ref = workRef(run, attempt.name);
  await gitText(['update-ref', '--no-deref', ref, tip], call);
  return { branch: ref, commit: tip, leftOut: [] };
}

/** Null if nothing was left to commit. */
async function commitRest(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  task: AttemptOrder['task'],
): Promise<WorktreeCommit | null> {
  try {
    const commit = (): ReturnType<typeof commitFiles> =>
      commitFiles(place, worktree, task.title, taskLine(task));
    // A git that was killed is no reason to do the task again.
    const isPassing = (error: unknown): boolean =>
      error instanceof RametError && error.family === 'retryable';
    return await commit().catch((error: unknown) => {
      if (isPassing(error)) return commit();
      throw error;
    });
  } catch (error) {
    if (
      error instanceof UserMistake &&
      (error.code === 'nothing_to_commit' || error.code === 'worktree_gone')
    )
      return null;
    throw error;
  }
}
