/**
 * FIFOs, sockets and devices where git reads a file: it waits there for ever, or never comes to an end. An agent can put one in its
 * files and where it writes commits. They hold no data, so they are removed, and someone says so.
 *
 * Invariants
 * 1. In files, only names that git opens by itself are removed: another FIFO of an agent is its own business.
 * 2. Links are not followed into folders.
 * 3. Who waits at a FIFO reads its end when it is removed.
 */
import {
  chmodSync,
  closeSync,
  constants,
  type Dirent,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { systemCode } from '../schema/errors.ts';
import type { CheckoutDirectories } from './git-environment.ts';
import { findRepository, isCommitId, POINTER_BYTES, readOrNull } from './repository.ts';

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
    for (const entry of await entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (folder !== top || kind === 'files' || !NOT_READ.has(entry.name))
          folders.push([path, entry.name === '.git' ? 'git' : of]);
      } else if (!entry.isFile() && (of === 'git' || OPENED.has(entry.name))) {
        const what = specialKind(path, entry, of);
        // Several gits may wait there, and someone looks for each of them.
        if (what !== null && remove(path)) lines.push(`${path} was ${what}, at which git waits`);
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
function remove(path: string): boolean {
  let descriptor: number | null = null;
  try {
    if (statSync(path).isFIFO()) descriptor = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  } catch {
    // It is gone, or not ours to open: it is removed anyway.
  }
  try {
    rmSync(path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

/**
 * What an agent may have left in the shared git directory that others would meet: a ref that no memory holds, and no file
 * where git has objects. For the moment when an agent has ended: it looks at every ref that agents may write.
 */
export async function sweepShared(commonDirectory: string): Promise<void> {
  const tell = (line: string): void => noteRepair(SHARED, line);
  for (const top of REFS_OF_AGENTS) await sweepRefs(commonDirectory, top, tell);
  await sweepObjects(commonDirectory, tell);
}

type Tell = (line: string) => void;
const REFS_OF_AGENTS = [join('refs', 'heads', 'ramet'), join('refs', 'tags'), join('refs', 'remotes')];

async function sweepRefs(commonDirectory: string, folder: string, tell: Tell): Promise<void> {
  for (const entry of await entriesOf(join(commonDirectory, folder))) {
    const ref = join(folder, entry.name);
    if (entry.isDirectory()) await sweepRefs(commonDirectory, ref, tell);
    else if (!entry.isFile() && specialKind(join(commonDirectory, ref), entry, 'git') !== null) {
      if (remove(join(commonDirectory, ref))) tell(`${ref} led to what is no file`);
    } else if (entry.isFile() && sizeOf(join(commonDirectory, ref)) > POINTER_BYTES) {
      const last = lastInLog(commonDirectory, ref);
      tell(`${ref} was too large, and is in ${setAside(commonDirectory, join(commonDirectory, ref))}`);
      if (last !== null) writeFileSync(join(commonDirectory, ref), `${last}\n`, { flag: 'wx' });
    }
  }
}

/** The commit that the log of a ref names last. Who may write the ref may write that too. */
export function lastInLog(commonDirectory: string, ref: string): string | null {
  const log = readOrNull(join(commonDirectory, 'logs', ref))
    ?.trimEnd()
    .split('\n')
    .at(-1);
  const last = log?.split(' ', 2)[1];
  return isCommitId(last) ? last : null;
}

/** Folders of objects that had nothing but files, by when they last changed. */
const seen = new Map<string, number>();

/** Git takes whatever has the name of an object for that object, and does not write it. */
async function sweepObjects(commonDirectory: string, tell: Tell): Promise<void> {
  const objects = join(commonDirectory, 'objects');
  for (const folder of ['', 'info', 'pack']) openFolder(join(objects, folder), 0o700);
  for (const folder of await entriesOf(objects)) {
    if (!folder.isDirectory() || !/^[0-9a-f]{2}$/.test(folder.name)) continue;
    const path = join(objects, folder.name);
    openFolder(path, 0o700);
    const changed = lstatSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0;
    if (seen.get(path) === changed) continue;
    for (const entry of await entriesOf(path)) {
      if (entry.isFile()) continue;
      const what = join(path, entry.name);
      if (entry.isDirectory()) tell(`${what} was a folder, and is in ${setAside(commonDirectory, what)}`);
      else if (remove(what)) tell(`${what} was no file`);
    }
    seen.set(path, changed);
  }
}

/** Out of git's way, where a person can look at it. */
export function setAside(commonDirectory: string, path: string): string {
  const kept = join(commonDirectory, 'ramet', 'set-aside');
  mkdirSync(kept, { recursive: true });
  const folder = mkdtempSync(join(kept, 'from-agent-'));
  renameSync(path, join(folder, basename(path)));
  return folder;
}

function entriesOf(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch((): Dirent[] => []);
}

/** An agent that may write a folder may also close it to everybody. `mode`: the rights that we need. */
export function openFolder(path: string, mode: number): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true || (stats.mode & mode) === mode || stats.uid !== process.geteuid?.())
    return;
  chmodSync(path, (stats.mode & 0o7777) | 0o700);
  noteShared(`${path} was closed`);
}

export function sizeOf(path: string): number {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isFile() === true ? stats.size : 0;
}

/** By the name of the registration. */
const repairs = new Map<string, string[]>();
/** What concerns all worktrees of a repository is said with the next of them. */
const SHARED = '';

export function noteShared(line: string): void {
  noteRepair(SHARED, line);
}

export function noteRepair(admin: string, line: string): void {
  // Two who look at the same moment find the same.
  repairs.set(admin, [...new Set([...(repairs.get(admin) ?? []), `${line}; put right`])]);
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
