/**
 * Commits of submodules that a task's work names and that only the place has where its agent worked: all that others get is
 * the name of a commit.
 */
import { existsSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { ChangedPath } from '../changed-paths.ts';
import { shellWord } from '../merge/merge-advice.ts';
import { readPointer } from '../repository.ts';
import { type GitCall, runGit } from '../run-git.ts';

const LINK = '160000';

export interface SubmoduleCommit {
  /** Where the submodule is. */
  path: string;
  commit: string;
}

/** One that others cannot get. */
export interface UnsharedSubmodule extends SubmoduleCommit {
  /** Whether the place has it where the agent worked; otherwise nobody here has. */
  isHere: boolean;
  /** The repository's own store of the submodule; null without one. */
  store: string | null;
}

export interface SubmoduleSite {
  /** Of the repository. */
  commonDirectory: string;
  /** Where the agent worked; null if that is unknown. */
  directory: string | null;
  call: GitCall;
}

/**
 * Among the changes that make `tree`. A commit that the repository's own store of the submodule has is known, and so is one that
 * a branch of its remote leads to, as the store says where the agent worked.
 */
export async function unsharedSubmodules(
  tree: string,
  changes: readonly ChangedPath[],
  site: SubmoduleSite,
): Promise<UnsharedSubmodule[]> {
  const links = changes.filter(({ mode, id, before }) => mode === LINK && before.id !== id);
  if (links.length === 0) return [];
  const names = await namesByPath(tree, site.call);
  const unshared: UnsharedSubmodule[] = [];
  for (const { path, id } of links) {
    const name = names.get(path);
    const found = name === undefined ? null : await lookFor({ path, name, commit: id }, site);
    if (found !== null) unshared.push(found);
  }
  return unshared;
}

/** The commands that bring here what a branch of their remotes has. */
export function fetchSteps(commits: readonly UnsharedSubmodule[]): string[] {
  return commits.map(({ path, store }) =>
    store === null
      ? `git submodule update --init ${shellWord(path)}`
      : `git --git-dir=${shellWord(store)} fetch origin`,
  );
}

/** The commands that give others these commits, on a branch of that name. */
export function pushSteps(
  commits: readonly SubmoduleCommit[],
  { directory, branch }: { directory: string; branch: string },
): string[] {
  return commits.map(
    ({ path, commit }) =>
      `git -C ${shellWord(join(directory, path))} push origin ${commit}:refs/heads/${shellWord(branch)}`,
  );
}

/** Null if others can get it. */
async function lookFor(
  { path, name, commit }: SubmoduleCommit & { name: string },
  { commonDirectory, directory, call }: SubmoduleSite,
): Promise<UnsharedSubmodule | null> {
  const shared = join(commonDirectory, 'modules', name);
  const store = existsSync(shared) ? shared : null;
  const has = (where: string): Promise<boolean> =>
    succeeds(where, ['cat-file', '-e', `${commit}^{commit}`], call);
  if (store !== null && (await has(store))) return null;
  const own = directory === null ? null : storeAt(join(directory, path));
  if (own === null || own === shared || !(await has(own))) return { path, commit, isHere: false, store };
  const onRemote = ['for-each-ref', '--count=1', `--contains=${commit}`, 'refs/remotes/'];
  return (await succeeds(own, onRemote, call)) ? null : { path, commit, isHere: true, store };
}

/** The git directory of the files at a path; null if it has none. */
function storeAt(path: string): string | null {
  const file = join(path, '.git');
  const link = /^gitdir: (.+)$/m.exec(readPointer(file) ?? '')?.[1]?.trimEnd();
  if (link !== undefined) return isAbsolute(link) ? link : resolve(path, link);
  return existsSync(join(file, 'HEAD')) ? file : null;
}

/** Whether git finds something there. An agent may have written that store: git is not to fetch for it. */
async function succeeds(store: string, args: readonly string[], call: GitCall): Promise<boolean> {
  const env = { ...call.env, GIT_NO_LAZY_FETCH: '1' };
  const { code, stdout } = await runGit([`--git-dir=${store}`, ...args], { cwd: call.cwd, env });
  return code === 0 && (args[0] !== 'for-each-ref' || stdout.trim() !== '');
}

async function namesByPath(tree: string, call: GitCall): Promise<Map<string, string>> {
  const args = ['config', '--blob', `${tree}:.gitmodules`, '-z', '--get-regexp', '^submodule\\..*\\.path$'];
  const { code, stdout } = await runGit(args, call);
  const names = new Map<string, string>();
  for (const entry of code === 0 ? stdout.split('\0') : []) {
    const [key = '', path = ''] = entry.split('\n');
    const name = /^submodule\.(.+)\.path$/.exec(key)?.[1];
    // It becomes part of a path.
    if (name !== undefined && !name.split('/').includes('..')) names.set(path, name);
  }
  return names;
}
