/**
 * Finds the repository around a directory by reading files, without starting git: microseconds instead of
 * milliseconds, before the first request. Synchronous, a handful of small reads at start.
 */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export interface Repository {
  /** The working tree's top directory, real path. */
  root: string;
  /** The `.git` directory that all worktrees of the repository share: names the repository. */
  commonDirectory: string;
}

/** Null outside a repository, and inside one whose `.git` leads nowhere: git itself goes no further up then. */
export function findRepository(directory: string): Repository | null {
  const start = realOrNull(directory);
  for (let root = start; root !== null; root = parentOf(root)) {
    const entry = join(root, '.git');
    const stats = statOrNull(entry);
    if (stats?.isFile()) return fromLink(root);
    if (stats?.isDirectory() && isGitDirectory(entry)) return { root, commonDirectory: entry };
  }
  return null;
}

/** A worktree's or submodule's `.git` is a file that names the directory; a worktree's names the shared one again. */
function fromLink(root: string): Repository | null {
  const target = linkedDirectory(root);
  const gitDirectory = target === null ? null : realOrNull(target);
  if (gitDirectory === null || readOrNull(join(gitDirectory, 'HEAD')) === null) return null;
  const shared = readOrNull(join(gitDirectory, 'commondir'))?.replace(/[\r\n]+$/, '');
  const commonDirectory = shared === undefined ? gitDirectory : realOrNull(resolve(gitDirectory, shared));
  return commonDirectory === null ? null : { root, commonDirectory };
}

/** What a `.git` file names. The whole file is the name, as git reads it: a second line would be part of it. */
export function linkedDirectory(root: string): string | null {
  const target = /^gitdir: ([^\r\n]+)[\r\n]*$/.exec(readOrNull(join(root, '.git')) ?? '')?.[1];
  return target === undefined ? null : resolve(root, target);
}

/** Whether git would take the directory itself for a repository without a working tree. */
export function isBareDirectory(path: string): boolean {
  return (
    isGitDirectory(path) && ['objects', 'refs'].every((name) => statOrNull(join(path, name))?.isDirectory())
  );
}

function isGitDirectory(path: string): boolean {
  return readOrNull(join(path, 'HEAD')) !== null;
}

/** Null also for what cannot be read, such as a circle of links: git sees no repository there either. */
function statOrNull(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

function parentOf(directory: string): string | null {
  const parent = dirname(directory);
  return parent === directory ? null : parent;
}

/** A small file's text; null when it cannot be read, and for what is no file: an agent may have put a FIFO there. */
export function readOrNull(path: string): string | null {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return fstatSync(descriptor).isFile() ? readFileSync(descriptor, 'utf8') : null;
  } catch {
    return null;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

function realOrNull(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}
