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

export interface SubmoduleSite {
  /** Of the repository. */
  commonDirectory: string;
  /** Where the agent worked; null if that is unknown. */
  directory: string | null;
  call: GitCall;
}

/**
 * Among the changes that make `tree`. A commit that the repository's own store of the submodule has is known, and so is one that
 * a branch of its remote leads to. Where there is no store, nothing can be said against it.
 */
export async function unsharedSubmodules(
  tree: string,
  changes: readonly ChangedPath[],
  site: SubmoduleSite,
): Promise<SubmoduleCommit[]> {
  const links = changes.filter(({ mode, id, before }) => mode === LINK && before.id !== id);
  if (links.length === 0) return [];
  const names = await namesByPath(tree, site.call);
  const unshared: SubmoduleCommit[] = [];
  for (const { path, id } of links) {
    const name = names.get(path);
    if (name !== undefined && !(await isShared({ path, name, commit: id }, site)))
      unshared.push({ path, commit: id });
  }
  return unshared;
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

async function isShared(
  { path, name, commit }: SubmoduleCommit & { name: string },
  { commonDirectory, directory, call }: SubmoduleSite,
): Promise<boolean> {
  const shared = join(commonDirectory, 'modules', name);
  const own = directory === null ? null : storeAt(join(directory, path));
  const isThere = existsSync(shared);
  if (isThere && (await succeeds(shared, ['cat-file', '-e', `${commit}^{commit}`], call))) return true;
  if (own === null || own === shared) return !isThere;
  return succeeds(own, ['for-each-ref', '--count=1', `--contains=${commit}`, 'refs/remotes/'], call);
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
