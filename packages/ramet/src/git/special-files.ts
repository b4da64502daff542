/**
 * FIFOs, sockets and devices where git reads a file: it waits there for ever, or never comes to an end. An agent can put one in its
 * files and where it writes commits. They hold no data, so they are removed, and someone says so.
 *
 * Invariants
 * 1. In files, only names that git opens by itself are removed: another FIFO of an agent is its own business.
 * 2. Links are not followed into folders.
 * 3. Who waits at a FIFO reads its end when it is removed.
 */
import { closeSync, constants, type Dirent, openSync, rmSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { CheckoutDirectories } from './git-environment.ts';
import { findRepository } from './repository.ts';

/** Where a git works. */
export interface GitSurroundings {
  cwd: string;
  /** Where an agent can write the files too. */
  checkout?: CheckoutDirectories | undefined;
}

/** What git opens in a folder of files without being asked. */
const OPENED: ReadonlySet<string> = new Set([
  '.git',
  '.gitignore',
  '.gitattributes',
  '.gitmodules',
  '.mailmap',
]);
/** Not read by the git of this repository. */
const NOT_READ: ReadonlySet<string> = new Set(['lfs', 'modules', 'ramet']);

/** Removes what git could wait at; says for each what it was. Outer folders first. */
export async function removeSpecialFiles({ cwd, checkout }: GitSurroundings): Promise<string[]> {
  const shared = checkout?.commonDirectory ?? findRepository(cwd)?.commonDirectory;
  const inFiles = checkout === undefined ? [] : await removeBelow(cwd, 'files');
  const inGit = shared === undefined ? [] : await removeBelow(shared, 'git');
  const lines = [...inFiles, ...inGit];
  const admin = checkout === undefined ? SHARED : basename(checkout.gitDirectory);
  for (const line of lines) noteRepair(admin, line);
  return lines;
}

type Kind = 'files' | 'git';

async function removeBelow(top: string, kind: Kind): Promise<string[]> {
  const lines: string[] = [];
  const folders: [string, Kind][] = [[top, kind]];
  for (let next = folders.shift(); next !== undefined; next = folders.shift()) {
    const [folder, of] = next;
    const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => []);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (folder !== top || kind === 'files' || !NOT_READ.has(entry.name))
          folders.push([path, entry.name === '.git' ? 'git' : of]);
      } else if (!entry.isFile() && (of === 'git' || OPENED.has(entry.name))) {
        const what = specialKind(path, entry, of);
        if (what === null) continue;
        remove(path);
        lines.push(`${path} was ${what}, at which git waits`);
      }
    }
  }
  return lines;
}

/** Null for what git can read. It follows links in its own directory, and none that has such a name in files. */
function specialKind(path: string, entry: Dirent, of: Kind): string | null {
  if (entry.isFIFO()) return 'a FIFO';
  if (!entry.isSymbolicLink()) return 'no file';
  if (of === 'files') return null;
  try {
    const stats = statSync(path);
    return stats.isFile() || stats.isDirectory() ? null : 'a link to what is no file';
  } catch {
    return null;
  }
}

/** Opened for both, a FIFO lets those continue that wait for someone at its other end; then it has ended for them. */
function remove(path: string): void {
  let descriptor: number | null = null;
  try {
    if (statSync(path).isFIFO()) descriptor = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  } catch {
    // It is gone, or not ours to open: it is removed anyway.
  }
  try {
    rmSync(path, { force: true });
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

/** By the name of the registration. */
const repairs = new Map<string, string[]>();
/** What concerns all worktrees of a repository is said with the next of them. */
const SHARED = '';

export function noteRepair(admin: string, line: string): void {
  repairs.set(admin, [...(repairs.get(admin) ?? []), `${line}; put right`]);
}

/** What was put right since the last report, one line each. */
export function repairsOf({ admin }: { admin: string }): readonly string[] {
  return [...(repairs.get(admin) ?? []), ...(repairs.get(SHARED) ?? [])];
}

/** The same, for those who say it now. */
export function takeRepairs(worktree: { admin: string }): readonly string[] {
  const lines = repairsOf(worktree);
  repairs.delete(worktree.admin);
  repairs.delete(SHARED);
  return lines;
}
