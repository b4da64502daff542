/** Conflicts that a person has resolved with git since a run ended: the branch of the work has moved, or is merged already. */
import { changedPaths, unsharedSubmodules } from '../../../git/left-work.ts';
import { callIn, isAncestor, readCommit } from '../../../git/merges.ts';
import type { MergeRepository } from '../../../git/shapes.ts';
import {
  type OperatorState,
  SUBMODULE_CAUSE,
  type TaskState,
  tasksOf,
} from '../../../operator/run/operator-state.ts';
import type { ResolvedWork } from '../../../operator/run/ports.ts';
import type { OperatorRun } from '../../../schema/operator-events.ts';
import { lostWork } from './lost-work.ts';

export interface ResolvedPlace {
  readonly repository: MergeRepository;
  /** The private ref is that from now on. */
  reset(run: OperatorRun, commit: string): Promise<void>;
}

/** By task. If a person has merged it into the target, the private ref follows that, as far as it can. */
export async function resolvedWork(
  state: OperatorState,
  place: ResolvedPlace,
): Promise<Map<string, ResolvedWork>> {
  const found = new Map<string, ResolvedWork>();
  const { run } = state;
  if (run === null) return found;
  for (const [id, work] of await putBack(state, run, place.repository)) found.set(id, work);
  for (const task of tasksOf(state)) {
    const shared = await sharedWork(task, run, place.repository);
    if (shared !== null) found.set(task.task.id, shared);
    if (!isConflict(task)) continue;
    const work = await workOf(task, run, place);
    if (work !== null) found.set(task.task.id, work);
  }
  return found;
}

/** Work that named a commit of a submodule which nobody else had, if a person has given that to others. */
async function sharedWork(
  { status, cause, attempts }: TaskState,
  run: OperatorRun,
  repository: MergeRepository,
): Promise<ResolvedWork | null> {
  const attempt = attempts.findLast((one) => one.cause === SUBMODULE_CAUSE);
  const { number = 0, branch = null, base, path: directory = null } = attempt ?? {};
  if (status !== 'frozen' || cause !== SUBMODULE_CAUSE || branch === null) return null;
  const commit = await readCommit(branch.startsWith('refs/') ? branch : `refs/heads/${branch}`, repository);
  if (commit === null) return null;
  const call = callIn(repository);
  const changes = await changedPaths(base ?? run.base, commit, call);
  const { commonDirectory } = repository;
  const left = await unsharedSubmodules(commit, changes, { commonDirectory, directory, call });
  return left.length > 0 ? null : { number, branch, commit, isIn: false };
}

/** Work that someone had taken off the target, and that is there again. */
async function putBack(
  state: OperatorState,
  run: OperatorRun,
  repository: MergeRepository,
): Promise<[string, ResolvedWork][]> {
  const removed = tasksOf(state).filter(({ status, cause }) => status === 'frozen' && cause === 'removed');
  const work = removed.flatMap(({ task, result, attempts }) => {
    const attempt = attempts.findLast(({ state }) => state === 'passed');
    return result === null || attempt === undefined ? [] : [{ task, result, attempt }];
  });
  const lost = await lostWork(run, { work, kept: null }, repository);
  return work
    .filter(({ task }) => !lost.has(task.id))
    .map(({ task, result, attempt }) => [
      task.id,
      { number: attempt.number, branch: result, commit: result, isIn: true },
    ]);
}

/** Also one that is to be done again: an earlier process may have taken that from a person, and died before it began. */
function isConflict({ status, cause, attempts }: TaskState): boolean {
  if (status === 'queued' || status === 'waiting') return attempts.at(-1)?.cause === 'conflict';
  return status === 'frozen' && cause === 'conflict';
}

async function workOf(
  { attempts }: TaskState,
  run: OperatorRun,
  place: ResolvedPlace,
): Promise<ResolvedWork | null> {
  const attempt = attempts.findLast(({ commit, branch }) => commit !== null && branch !== null);
  const { number, commit = null, branch = null } = attempt ?? {};
  if (number === undefined || commit === null || branch === null) return null;
  // Work that no branch holds is resolved on one that is called like this.
  for (const name of [`merge-${commit.slice(0, 12)}`, branch]) {
    const ref = name.startsWith('refs/') ? name : `refs/heads/${name}`;
    const tip = await readCommit(ref, place.repository);
    if (tip === null || !(await isAncestor(commit, tip, place.repository))) continue;
    const isIn = await hasIt(tip, run, place);
    if (isIn || tip !== commit) return { number, branch: name, commit: tip, isIn };
  }
  // Its branch goes when another one leads to its commit, by a clean-up or by the person: the commit itself still says it.
  return (await hasIt(commit, run, place)) ? { number, branch: commit, commit, isIn: true } : null;
}

async function hasIt(tip: string, run: OperatorRun, { repository, reset }: ResolvedPlace): Promise<boolean> {
  const [head, target] = await Promise.all([
    readCommit(run.integration, repository),
    readCommit(`refs/heads/${run.target}`, repository),
  ]);
  if (head === null || (await isAncestor(tip, head, repository))) return head !== null;
  if (target === null || !(await isAncestor(tip, target, repository))) return false;
  if (!(await isAncestor(head, target, repository))) return false;
  await reset(run, target);
  return true;
}
