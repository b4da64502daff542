/**
 * The pattern `clone`, in its smallest form: each attempt in a local clone. Its work is fetched back as a ref, which keeps it
 * from being cleared away, and then goes through the merge queue as any other.
 */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import {
  changedPaths,
  clonedLog,
  clonedTip,
  keepWork,
  keptBefore,
  leftInClone,
  leftOnRefs,
  type SubmoduleSite,
  wholeWork,
} from '../../../../git/left-work.ts';
import {
  addAll,
  clonePath,
  makeClone,
  moveApart,
  removeClone,
  withScratch,
} from '../../../../git/managed-worktrees.ts';
import { withTrailers } from '../../../../git/provenance.ts';
import { type GitCall, gitText } from '../../../../git/run-git.ts';
import type { WorktreePlace } from '../../../../git/shapes.ts';
import type { AttemptOrder } from '../../../../operator/run/ports.ts';
import { attemptRefs, type RefWitness } from '../attempt-refs.ts';
import {
  type AttemptObjection,
  type AttemptPattern,
  type AttemptWork,
  type ChangingWork,
  runName,
  taskLine,
  withoutChanges,
  workRef,
} from './attempt-pattern.ts';
import { nestedObjection, strayLinks } from './nested-repositories.ts';
import { submoduleObjection } from './submodule-objection.ts';

export interface ClonePlace {
  worktrees: WorktreePlace;
  session: string;
  witness: RefWitness;
  /** Deletes a folder; for tests, which break it off. */
  deletion?: (folder: string) => void;
}

export function clonePattern(place: ClonePlace): AttemptPattern {
  const { worktrees, session } = place;
  const nameOf = ({ run, attempt }: AttemptOrder): string => `${runName(run)}-${attempt.name}`;
  const notes = new Map<string, readonly string[]>();
  const fetched = async (
    order: AttemptOrder,
    agent: string,
  ): Promise<AttemptWork | AttemptObjection | null> => {
    const path = clonePath(worktrees, nameOf(order));
    const site = { path, name: nameOf(order), base: order.attempt.base ?? order.run.base };
    const { tip, tree, nested, led, objection: whole } = await fetchWork(order, { ...site, agent }, place);
    if (led.length > 0) notes.set(order.attempt.name, led);
    // The clone stays: it alone has all of it.
    if (whole !== null) return whole;
    const objection = nested.length === 0 ? null : setAside(nested, site, worktrees);
    const work = await committed(order, { tip, tree, agent }, place);
    const unshared = work === null ? null : await submoduleObjection(order, work, siteIn(path, worktrees));
    // The clone stays: it alone has the commit of the submodule.
    if (unshared !== null) return unshared;
    removeClone(path, place.deletion);
    return objection ?? withoutChanges(work);
  };
  return {
    isolation: 'clone',
    notes: ({ attempt }) => notes.get(attempt.name) ?? [],
    async prepare(order) {
      const { run, attempt } = order;
      const wanted = { name: nameOf(order), base: attempt.base ?? run.base, session };
      return { workspace: await makeClone(worktrees, wanted) };
    },
    siteOf: async (order) => ({ branch: null, path: clonePath(worktrees, nameOf(order)) }),
    collect: (order, { id }) => fetched(order, id),
    // A clone that cannot be read stays where it is: its path is on record.
    async abandon(order, { id }) {
      const work = await fetched(order, id).catch(() => null);
      return { branch: (work !== null && 'branch' in work ? work.branch : null) ?? null };
    },
  };
}

interface CloneSite {
  path: string;
  name: string;
  base: string;
}

interface ClonedWork {
  tip: string;
  tree: string;
  /** Repositories inside, by folder. */
  nested: readonly string[];
  /** Why its commits are not taken as they are, one line each. */
  led: readonly string[];
  /** Why nothing that is there is the whole of its work. */
  objection: AttemptObjection | null;
}

/**
 * Its commits, and the tree of its files. Read with the git directory of the repository: that of the clone is the agent's, so no git
 * is ever started in it, and nothing but objects is taken from it.
 */
async function fetchWork(
  order: AttemptOrder,
  { path, base, agent }: CloneSite & { agent: string },
  { worktrees, witness }: ClonePlace,
): Promise<ClonedWork> {
  const { run, attempt } = order;
  const call: GitCall = { cwd: worktrees.repository.root, env: worktrees.env };
  const ref = workRef(run, attempt.name);
  // A process that was killed after it had fetched has left the ref alone.
  if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    const tip = await tipOf(ref, call);
    return { tip, tree: await tipOf(tip, call, 'tree'), nested: [], led: [], objection: null };
  }
  const { commonDirectory } = worktrees.repository;
  const reading = { base, commonDirectory, call };
  const { tip, problem } = await clonedTip(join(path, '.git'), reading);
  const own = tip ?? base;
  const led = problem === null ? [] : [`${problem}: its files are taken as one commit`];
  const files = await filesIn(path, own, { worktrees, call });
  const damage = problem === null ? null : await damageOf(path, { base, problem, tree: files.tree }, call);
  if (damage !== null) return { tip: own, tree: files.tree, nested: [], led: [], objection: damage };
  const isClean = files.tree === (await tipOf(own, call, 'tree'));
  const left = await leftInClone(join(path, '.git'), own, reading);
  // It can push to the repository, too.
  const log = clonedLog(join(path, '.git'));
  const refs = await attemptRefs(order, agent, { place: worktrees, worktree: null, log, witness });
  const pushed = await leftOnRefs(refs.own, own, reading);
  led.push(...refs.notes, ...pushed.notes);
  const stays = `both are in ${path}, which is kept`;
  const whole = await wholeWork({ own, name: null, isClean, kept: stays }, [...left, ...pushed.left], call);
  const taken = whole.taken?.commit ?? own;
  if (whole.taken !== null)
    led.push(`its commits on ${whole.taken.where} are taken, where its clone was not`);
  led.push(...whole.notes);
  const tree = whole.taken === null ? files.tree : await tipOf(taken, call, 'tree');
  const kept = await keptBefore(ref, { parent: taken, tree }, call);
  if (kept === null) await gitText(['update-ref', '--no-deref', '-m', 'ramet operate', ref, taken], call);
  const links = await strayLinks(tree, await changedPaths(base, tree, call), call);
  return {
    tip: kept ?? taken,
    tree,
    nested: [...new Set([...files.leftOut, ...links])],
    led,
    objection: whole.objection,
  };
}

/** Without its `.git` nobody knows whether files are missing because its agent removed them, or because something removed the clone. */
async function damageOf(
  path: string,
  { base, problem, tree }: { base: string; problem: string; tree: string },
  call: GitCall,
): Promise<AttemptObjection | null> {
  const gone = (await changedPaths(base, tree, call)).filter(({ mode }) => mode === null);
  const [first] = gone;
  if (first === undefined) return null;
  const missing = `${first.path}${gone.length > 1 ? ` and ${gone.length - 1} other files` : ''} that it began with`;
  return {
    cause: 'damaged_clone',
    message: `${problem}, and ${missing} ${gone.length > 1 ? 'are' : 'is'} missing: nothing is taken from ${path}, which is kept`,
  };
}

async function committed(
  { run, task, attempt }: AttemptOrder,
  { tip, tree, agent }: Pick<ClonedWork, 'tip' | 'tree'> & { agent: string },
  { worktrees, session }: ClonePlace,
): Promise<ChangingWork | null> {
  const call: GitCall = { cwd: worktrees.repository.root, env: worktrees.env };
  const ref = workRef(run, attempt.name);
  const message = withTrailers(task.title, { agent, session, task: taskLine(task) });
  const isCommitted = tree === (await tipOf(tip, call, 'tree'));
  const commit = isCommitted ? tip : await keepWork({ ref, base: tip, tree, message }, call);
  const changes = await changedPaths(attempt.base ?? run.base, commit, call);
  if (changes.length > 0) return { commit, branch: ref, files: changes.map(({ path }) => path), changes };
  await gitText(['update-ref', '--no-deref', '-d', ref], call);
  return null;
}

function siteIn(
  directory: string,
  { repository, env }: WorktreePlace,
): SubmoduleSite & { directory: string } {
  const { commonDirectory, root } = repository;
  return { commonDirectory, directory, call: { cwd: root, env } };
}

function tipOf(name: string, call: GitCall, kind: 'commit' | 'tree' = 'commit'): Promise<string> {
  return gitText(['rev-parse', '--verify', `${name}^{${kind}}`], call);
}

/** The tree of its files, without repositories inside. */
function filesIn(
  path: string,
  tip: string,
  { worktrees: { repository, project }, call }: { worktrees: WorktreePlace; call: GitCall },
): Promise<{ tree: string; leftOut: string[] }> {
  const { commonDirectory } = repository;
  return withScratch(project, async (index) => {
    const own = { ...call, index };
    await gitText(['read-tree', tip], own);
    const there = { ...own, cwd: path, checkout: { gitDirectory: commonDirectory, commonDirectory } };
    // The user's own checkout may leave files out.
    const leftOut = await addAll(there, { settings: ['core.sparseCheckout=false'] });
    return { tree: await gitText(['write-tree'], own), leftOut };
  });
}

function setAside(
  nested: readonly string[],
  { path, name }: CloneSite,
  worktrees: WorktreePlace,
): AttemptObjection {
  const { folder } = moveApart(worktrees, { path, name, id: name }, nested);
  return nestedObjection(nested, folder);
}
