/**
 * Repositories that a task has made inside its files. No commit can hold their files, only the name of a commit that nobody else has.
 * A task that leaves one has not done what it seems to have done: its work is not taken, and it is told why.
 */

import type { ChangedPath } from '../../../../git/left-work.ts';
import { type GitCall, runGit } from '../../../../git/run-git.ts';
import type { AttemptObjection } from './attempt-pattern.ts';

const LINK = '160000';
const PATH_LINE = /^\s*path\s*=\s*"?(.*?)"?\s*$/gm;

/** Among the changes that make `tree`, new names of commits that are no submodules. */
export async function strayLinks(
  tree: string,
  changes: readonly ChangedPath[],
  call: GitCall,
): Promise<string[]> {
  const links = changes.filter(({ mode, before }) => mode === LINK && before.mode !== LINK);
  if (links.length === 0) return [];
  const { code, stdout } = await runGit(['cat-file', 'blob', `${tree}:.gitmodules`], call);
  const submodules = new Set(code === 0 ? Array.from(stdout.matchAll(PATH_LINE), ([, path]) => path) : []);
  return links.map(({ path }) => path).filter((path) => !submodules.has(path));
}

/** `folder`: where they are now; null if they are where they were. */
export function nestedObjection(names: readonly string[], folder: string | null = null): AttemptObjection {
  const some = names.slice(0, 3).join(', ');
  const more = names.length > 3 ? ` and ${names.length - 3} more` : '';
  const are = names.length === 1 ? 'is a repository of its own' : 'are repositories of their own';
  const where = folder === null ? '' : ` Moved to ${folder}.`;
  return {
    cause: 'nested_repository',
    message: `${some}${more} ${are} inside the checkout, so the files there cannot be part of a commit: leave plain files, without .git, or declare a submodule.${where}`,
  };
}
