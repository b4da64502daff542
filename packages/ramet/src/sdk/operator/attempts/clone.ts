/**
 * The pattern `clone`, in its smallest form: each attempt in a local clone. Its work is fetched back as a ref, which keeps it
 * from being cleared away, and then goes through the merge queue as any other.
 */
import { lstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { clonePath, makeClone } from '../../../git/managed-worktrees.ts';
import { withTrailers } from '../../../git/provenance.ts';
import { type GitCall, gitFailed, gitText, runGit } from '../../../git/run-git.ts';
import type { WorktreePlace } from '../../../git/shapes.ts';
import type { AttemptOrder } from '../../../operator/run/ports.ts';
import { type AttemptPattern, type AttemptWork, runName, workRef } from './attempt-pattern.ts';
import { changedPaths, keepWork, withIndex } from './changed-paths.ts';

export interface ClonePlace {
  worktrees: WorktreePlace;
  session: string;
}

export function clonePattern(place: ClonePlace): AttemptPattern {
  const { worktrees, session } = place;
  const nameOf = ({ run, attempt }: AttemptOrder): string => `${runName(run)}-${attempt.name}`;
  const fetched = async (order: AttemptOrder, agent: string): Promise<AttemptWork | null> => {
    const path = clonePath(worktrees, nameOf(order));
    const work = await fetchWork(order, { path, agent, place });
    rmSync(path, { recursive: true, force: true });
    return work;
  };
  return {
    isolation: 'clone',
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
      return { branch: work?.branch ?? null };
    },
  };
}

interface CloneWork {
  path: string;
  agent: string;
  place: ClonePlace;
}

/** Its commits, and one of what is left uncommitted. Read with the git directory of the repository: that of the clone is the agent's. */
async function fetchWork(
  order: AttemptOrder,
  { path, agent, place: { worktrees, session } }: CloneWork,
): Promise<AttemptWork | null> {
  const { run, task, attempt } = order;
  const call: GitCall = { cwd: worktrees.repository.root, env: worktrees.env };
  const ref = workRef(run, attempt.name);
  // A link or a file in its place leads to another repository, whose work is not this agent's.
  const isThere = lstatSync(join(path, '.git'), { throwIfNoEntry: false })?.isDirectory() === true;
  // A process that was killed after it had fetched has left the ref alone.
  const tip = isThere ? await fetchTip(path, ref, call) : await tipOf(ref, call);
  const tree = isThere ? await filesIn(path, tip, { worktrees, call }) : await tipOf(tip, call, 'tree');
  const base = attempt.base ?? run.base;
  const message = withTrailers(task.title, { agent, session, task: `${task.id} ${task.title}` });
  const isCommitted = tree === (await tipOf(tip, call, 'tree'));
  const commit = isCommitted ? tip : await keepWork({ ref, base: tip, tree, message }, call);
  const files = (await changedPaths(base, commit, call)).map(({ path: file }) => file);
  if (files.length > 0) return { commit, branch: ref, files };
  await gitText(['update-ref', '-d', ref], call);
  return null;
}

async function fetchTip(path: string, ref: string, call: GitCall): Promise<string> {
  const args = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', path, `+HEAD:${ref}`];
  const end = await runGit(args, { ...call, reachesRemote: true });
  if (end.code !== 0) throw gitFailed(args, end);
  return tipOf(ref, call);
}

function tipOf(name: string, call: GitCall, kind: 'commit' | 'tree' = 'commit'): Promise<string> {
  return gitText(['rev-parse', '--verify', `${name}^{${kind}}`], call);
}

/** The tree of its files. */
function filesIn(
  path: string,
  tip: string,
  { worktrees: { repository, project }, call }: { worktrees: WorktreePlace; call: GitCall },
): Promise<string> {
  return withIndex(project, async (index) => {
    const own = { ...call, index };
    const there = [`--git-dir=${repository.commonDirectory}`, `--work-tree=${path}`];
    await gitText(['read-tree', tip], own);
    await gitText([...there, 'add', '--all'], own);
    return gitText(['write-tree'], own);
  });
}
