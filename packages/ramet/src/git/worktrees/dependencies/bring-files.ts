/**
 * What a worktree needs and git does not bring: copies of files such as `.env`, and links to directories of the
 * asking checkout. Both are kept out of git for this worktree alone, and never replace what is there.
 *
 * Invariants
 * 1. A copy is readable by this user alone, and its digest is noted: a changed one counts as work.
 * 2. A directory is linked only while the lock files beside it say the same on both sides.
 * 3. Nothing outside the asking checkout is brought, also not through a link in it.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
} from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { describeError, UserMistake } from '../../../schema/errors.ts';
import { globPaths, parseGlob } from '../../../system/glob-pattern.ts';
import { PRIVATE_FILE } from '../../../system/home.ts';
import { isInside } from '../../../system/landing-path.ts';
import { READ_AT_ONCE } from '../../repository.ts';
import { gitText, runGit } from '../../run-git.ts';
import type { WorktreePlace } from '../worktree-place.ts';

const FILE = '.worktreeinclude';

/** More than this is no list of a few settings that a project needs. */
const MOST_FILES = 2_000;

const NONE = { code: 0, stdout: '' };

export interface BroughtFiles {
  copied: Record<string, string>;
  links: string[];
  notes: string[];
}

export const LOCK_FILES: readonly string[] = [
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lock',
  'bun.lockb',
  'poetry.lock',
  'uv.lock',
  'Pipfile.lock',
  'Gemfile.lock',
  'composer.lock',
  'Cargo.lock',
];

/** `included` are files that the repository itself names. */
export function bringFiles(
  { repository, settings }: WorktreePlace,
  target: string,
  included: readonly string[] = [],
): BroughtFiles {
  const copied: Record<string, string> = {};
  const notes: string[] = [];
  const links: string[] = [];
  for (const path of filesToCopy(repository.root, settings.copy ?? [], included)) {
    const digest = copyPrivately(repository.root, target, path);
    if (digest !== null) copied[path] = digest;
  }
  for (const directory of settings.symlinkDirectories ?? []) {
    const path = insidePath('worktree.symlinkDirectories', directory);
    const refusal = linkDirectory(repository.root, target, path);
    if (refusal === null) links.push(path);
    else notes.push(`${path} is not shared with the checkout: ${refusal}`);
  }
  return { copied, links, notes };
}

function filesToCopy(root: string, patterns: readonly string[], included: readonly string[]): string[] {
  const found = patterns.flatMap((pattern) => pathsMatching(root, insidePath('worktree.copy', pattern)));
  return [...new Set([...found, ...included])].filter((path) => isOwnFile(root, path)).sort();
}

function pathsMatching(root: string, pattern: string): string[] {
  const glob = parseGlob(pattern);
  if (glob.ok) return globPaths(root, pattern, glob);
  throw new UserMistake('worktree_path', `worktree.copy: ${glob.reason}`);
}

/** A regular file that is really below the root. */
function isOwnFile(root: string, path: string): boolean {
  const stats = lstatSync(join(root, path), { throwIfNoEntry: false });
  return stats?.isFile() === true && isInside(realpathSync(join(root, path)), root);
}

/** Null for a file that the commit brings itself. */
function copyPrivately(root: string, target: string, path: string): string | null {
  const copy = join(target, path);
  if (existsSync(copy)) return null;
  mkdirSync(dirname(copy), { recursive: true });
  copyFileSync(join(root, path), copy);
  chmodSync(copy, PRIVATE_FILE);
  return fileDigest(copy);
}

export function fileDigest(path: string): string {
  return createHash('sha256')
    .update(readFileSync(path, { flag: READ_AT_ONCE }))
    .digest('hex');
}

/** Why not; null when it is linked. */
function linkDirectory(root: string, target: string, path: string): string | null {
  const source = join(root, path);
  if (!lstatSync(source, { throwIfNoEntry: false })?.isDirectory()) return 'it is no directory there';
  if (lstatSync(join(target, path), { throwIfNoEntry: false })) return 'the commit has it';
  const other = differingLock(root, target, dirname(path));
  if (other !== null) return `${other} differs`;
  mkdirSync(dirname(join(target, path)), { recursive: true });
  symlinkSync(source, join(target, path));
  return null;
}

function differingLock(root: string, target: string, folder: string): string | null {
  const differs = LOCK_FILES.find((name) => {
    const [here, there] = [join(root, folder, name), join(target, folder, name)];
    if (!existsSync(here) && !existsSync(there)) return false;
    return !existsSync(here) || !existsSync(there) || fileDigest(here) !== fileDigest(there);
  });
  return differs === undefined ? null : join(folder, differs);
}

/** Throws for a path that leads out. */
export function insidePath(setting: string, path: string): string {
  const plain = path.replace(/^(\.\/)+|\/+$/g, '');
  if (plain !== '' && !isAbsolute(plain) && !plain.split(/[\\/]/).includes('..')) return plain;
  throw new UserMistake('worktree_path', `${setting}: "${path}" must be a path below the repository`);
}

/**
 * Files that the repository itself wants in every worktree: `.worktreeinclude`, in the syntax of `.gitignore`, names
 * them. Only files that git ignores are meant; what git tracks comes anyway, and what it does not know is work.
 */
interface IncludedFiles {
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
