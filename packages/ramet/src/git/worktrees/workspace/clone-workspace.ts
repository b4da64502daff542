/**
 * A clone for one agent (OP-9, `clone`), in its smallest form: local, with the objects of the repository. Its own git directory is
 * the agent's to write, so nothing that is configured there is ever run outside of the agent's own commands.
 */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { privateCaches, temporaryFolders } from '../../../sandbox/isolated-shell.ts';
import { RametError, systemCode } from '../../../schema/errors.ts';
import type { RecordedWorktree } from '../../../schema/events.ts';
import { makePrivateDirectory, scratchpadIn } from '../../../system/home.ts';
import { realPath } from '../../../system/landing-path.ts';
import { gitText, runGit } from '../../run-git.ts';
import type { WorktreePlace } from '../worktree-place.ts';
import type { AgentWorkspace } from './agent-workspace.ts';
import { guardedBy } from './held-workspace.ts';

export interface CloneRequest {
  /** A file name that nothing else has. */
  name: string;
  base: string;
  session: string;
}

export function clonePath({ home, project }: Pick<WorktreePlace, 'home' | 'project'>, name: string): string {
  return join(home, 'clones', basename(project), name);
}

type Deletion = (folder: string) => void;

const deleteAll: Deletion = (folder) => rmSync(folder, { recursive: true, force: true });

/** Out of its place in one step, then deleted: if this process is killed meanwhile, no other takes what is left of it for work. */
export function removeClone(path: string, deletion: Deletion = deleteAll): void {
  const going = `${path}.going`;
  // What a process left that was killed here.
  deletion(going);
  try {
    renameSync(path, going);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return;
    throw error;
  }
  deletion(going);
}

/** Made again if a git of it is killed: nobody has worked in it yet. */
export async function makeClone(place: WorktreePlace, request: CloneRequest): Promise<AgentWorkspace> {
  return cloneOnce(place, request).catch((error: unknown) => {
    if (error instanceof RametError && error.code === 'git_killed') return cloneOnce(place, request);
    throw error;
  });
}

/** What is there of that name was left by a process that was killed before anybody worked in it. */
async function cloneOnce(
  place: WorktreePlace,
  { name, base, session }: CloneRequest,
): Promise<AgentWorkspace> {
  const path = clonePath(place, name);
  const begun = `${path}.begun`;
  const { root, commonDirectory } = place.repository;
  makePrivateDirectory(dirname(path));
  deleteAll(begun);
  removeClone(path);
  const since = performance.now();
  const clone = ['clone', '--quiet', '--shared', '--no-checkout', '--no-tags', commonDirectory, begun];
  // From one folder to another: no remote is asked.
  await gitText(clone, { cwd: root, env: place.env, reachesRemote: true });
  const call = { cwd: begun, env: place.env };
  // Nothing leads back: its work is fetched from it.
  await gitText(['remote', 'remove', 'origin'], call);
  await copyIdentity(place, begun);
  const branch = `ramet/${name}`;
  await gitText(['checkout', '--quiet', '-B', branch, base], call);
  renameSync(begun, path);
  const worktree = { id: `clone-${name}`, path, branch, base, from: root, clone: { session } };
  return cloneWorkspace(place, worktree, { session, ms: performance.now() - since });
}

/** The clone of a resumed agent. */
export function resumedClone(
  place: WorktreePlace,
  worktree: RecordedWorktree,
  { session }: NonNullable<RecordedWorktree['clone']>,
): AgentWorkspace {
  if (!existsSync(worktree.path))
    throw new RametError(
      'clone_gone',
      'terminal',
      `its clone ${worktree.path} is gone: what it did is below refs/ramet/attempts/`,
    );
  return cloneWorkspace(place, worktree, { session, ms: 0 });
}

/** Commits of the agent have the name that the user's own have here. */
async function copyIdentity({ repository: { root }, env }: WorktreePlace, clone: string): Promise<void> {
  const args = ['config', '--local', '--null', '--get-regexp', '^user\\.(name|email)$'];
  const { stdout } = await runGit(args, { cwd: root, env });
  for (const line of stdout.split('\0').filter(Boolean)) {
    const [key = '', value = ''] = line.split(/\n(.*)/s);
    await gitText(['config', key, value], { cwd: clone, env });
  }
}

function cloneWorkspace(
  place: WorktreePlace,
  worktree: RecordedWorktree,
  { session, ms }: { session: string; ms: number },
): AgentWorkspace {
  const { path, from, base } = worktree;
  const scratch = scratchpadIn(join(place.project, session));
  const temporary = temporaryFolders(place.env);
  const rules = `clone of ${from} at ${base.slice(0, 12)}: tools translate its paths. Write only here; commit, never push.`;
  return {
    worktree,
    created: {
      ...{ type: 'worktree.created', ...worktree, how: ms === 0 ? 'restored' : 'made', ms },
      dirty: { policy: 'exclude', files: null },
    },
    fence: {
      ...{ root: realPath(path), from, home: realPath(place.home), scratch: realPath(scratch) },
      ...{ temporary: temporary.map(realPath), guarded: guardedBy(place) },
    },
    bounds: {
      ...{ shared: temporary, caches: privateCaches(place.env, place.project), guarded: guardedBy(place) },
      ...{ own: [path, scratch], made: [] },
    },
    env: { RAMET_WORKTREE: path },
    notice: {
      whole: `<worktree>\nYou work in your own git clone ${path}, a ${rules}\n</worktree>`,
      brief: `Own ${rules}`,
    },
    ...{ warnings: [], recovered: null },
    giveTo() {},
    checkpoint: async () => null,
    release: async () => ({ kept: true, reasons: ['its work is fetched from it'] }),
  };
}
