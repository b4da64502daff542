/**
 * Finds the repository around a directory by reading files, without starting git: microseconds instead of
 * milliseconds, before the first request. Synchronous, a handful of small reads at start.
 */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { existingPath } from '../system/landing-path.ts';

export interface Repository {
  /** The working tree's top directory, real path. */
  root: string;
  /** The `.git` directory that all worktrees of the repository share: names the repository. */
  commonDirectory: string;
}

/** Null outside a repository, and inside one whose `.git` leads nowhere: git itself goes no further up then. */
export function findRepository(directory: string): Repository | null {
  const start = existingPath(directory);
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
  const gitDirectory = target === null ? null : existingPath(target);
  if (gitDirectory === null || readPointer(join(gitDirectory, 'HEAD')) === null) return null;
  const shared = readPointer(join(gitDirectory, 'commondir'))?.replace(/[\r\n]+$/, '');
  const commonDirectory = shared === undefined ? gitDirectory : existingPath(resolve(gitDirectory, shared));
  return commonDirectory === null ? null : { root, commonDirectory };
}

/** What a `.git` file names. The whole file is the name, as git reads it: a second line would be part of it. */
export function linkedDirectory(root: string): string | null {
  const target = /^gitdir: ([^\r\n]+)[\r\n]*$/.exec(readPointer(join(root, '.git')) ?? '')?.[1];
  return target === undefined ? null : resolve(root, target);
}

/** Whether git would take the directory itself for a repository without a working tree. */
export function isBareDirectory(path: string): boolean {
  return (
    isGitDirectory(path) && ['objects', 'refs'].every((name) => statOrNull(join(path, name))?.isDirectory())
  );
}

function isGitDirectory(path: string): boolean {
  return readPointer(join(path, 'HEAD')) !== null;
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

/** How a file is opened that an agent can replace: nobody waits at a FIFO. */
export const READ_AT_ONCE: number = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
/** More than a path and what stands before it: what is larger names no place. */
export const POINTER_BYTES: number = 16 << 10;
const TEXT_BYTES = 64 << 20;
/** A list of millions of refs, which no agent writes. */
export const PACKED_BYTES: number = 500 << 20;
const CHUNK_BYTES = 64 << 10;

/** The text of a file that names a place or a commit, such as `.git` and `HEAD`; null for one that is larger than such files are. */
export function readPointer(path: string): string | null {
  return readOrNull(path, POINTER_BYTES);
}

/** Whether it may be a file that names a place or a commit: git reads all of it, however large. */
export function isPointer(stats: Stats | undefined): boolean {
  return stats?.isFile() === true && stats.size <= POINTER_BYTES;
}

/**
 * A small file's text; null when it cannot be read, and for what is no file or too large: an agent may have put a FIFO there, or a
 * file that no memory can hold.
 */
export function readOrNull(path: string, mostBytes: number = TEXT_BYTES): string | null {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(path, READ_AT_ONCE);
    const stats = fstatSync(descriptor);
    return stats.isFile() && stats.size <= mostBytes ? readMost(descriptor, stats.size, mostBytes) : null;
  } catch {
    return null;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

/** The first bytes of a file; throws for what is none. */
export function readStart(path: string, bytes: number): Uint8Array {
  const descriptor = openSync(path, READ_AT_ONCE);
  try {
    const buffer = Buffer.alloc(bytes);
    return buffer.subarray(0, readSync(descriptor, buffer, 0, bytes, null));
  } finally {
    closeSync(descriptor);
  }
}

/** To its end: files of /proc claim size 0, and others may grow. */
function readMost(descriptor: number, size: number, mostBytes: number): string | null {
  const chunks: Buffer[] = [];
  let total = 0;
  for (let next = size + 1; ; next = CHUNK_BYTES) {
    const buffer = Buffer.allocUnsafe(next);
    const count = readSync(descriptor, buffer, 0, next, null);
    chunks.push(buffer.subarray(0, count));
    total += count;
    if (total > mostBytes) return null;
    if (count === 0 || (count < next && size > 0)) return Buffer.concat(chunks).toString('utf8');
  }
}

/** Objects are named by it; ids of other repositories may have 64 digits. */
export function isCommitId(text: string | null | undefined): text is string {
  return text !== null && text !== undefined && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}
