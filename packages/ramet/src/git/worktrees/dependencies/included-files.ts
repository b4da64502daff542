/**
 * Files that the repository itself wants in every worktree: `.worktreeinclude`, in the syntax of `.gitignore`, names
 * them. Only files that git ignores are meant; what git tracks comes anyway, and what it does not know is work.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describeError } from '../../../schema/errors.ts';
import { gitText, runGit } from '../../run-git.ts';
import type { WorktreePlace } from '../worktree-place.ts';

const FILE = '.worktreeinclude';
/** More than this is no list of a few settings that a project needs. */
const MOST_FILES = 2_000;

export interface IncludedFiles {
  paths: string[];
  notes: string[];
}

export async function includedFiles({ repository, env }: WorktreePlace): Promise<IncludedFiles> {
  const { root } = repository;
  if (!existsSync(join(root, FILE))) return { paths: [], notes: [] };
  try {
    const call = { cwd: root, env };
    const list = ['ls-files', '-z', '--others', '--ignored', `--exclude-from=${FILE}`];
    const named = await gitText(list, call);
    const check = ['check-ignore', '-z', '--stdin'];
    const { code, stdout } = named === '' ? NONE : await runGit(check, { ...call, input: named });
    // 1 says that none of them is ignored.
    if (code > 1) throw new Error(`git check-ignore exited with ${code}`);
    const paths = stdout.split('\0').filter((path) => path !== '');
    if (paths.length <= MOST_FILES) return { paths, notes: [] };
    return {
      paths: [],
      notes: [`${FILE} names ${paths.length} files; more than ${MOST_FILES} are not copied`],
    };
  } catch (error) {
    return { paths: [], notes: [`${FILE} could not be followed: ${describeError(error)}`] };
  }
}

const NONE = { code: 0, stdout: '' };
