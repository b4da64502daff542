/**
 * The files of a synchronised folder.
 *
 * Invariants
 * 1. A file is replaced or removed only if it is as it was read: an edit meanwhile is 'overtaken', and stays.
 * 2. Nothing outside of the folder is read or written: links are left alone, and keys cannot lead out.
 */
import { randomBytes } from 'node:crypto';
import {
  type BigIntStats,
  type Dirent,
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { systemCode } from '../../schema/errors.ts';
import { digestOf } from '../../system/digest.ts';
import { loadFile, sameStamp } from '../../system/regular-file.ts';
import { replaceFile } from '../../system/replace-file.ts';
import { foldedKey, isHidden, keyProblem } from '../wire/memory-key.ts';
import type { MemoryEntry } from '../wire/memory-shapes.ts';
import { STATE_DIRECTORY } from './sync-state.ts';

export interface LocalFile {
  key: string;
  path: string;
  bytes: Uint8Array;
  checksum: string;
  stats: BigIntStats;
}

export interface SkippedKey {
  /** A key, or what would be one. */
  key: string;
  reason: string;
}

export interface SyncedFiles {
  files: Map<string, LocalFile>;
  skipped: SkippedKey[];
}

const OWNER = 'memory-sync';
const LEFTOVER = new RegExp(`^\\.ramet-${OWNER}-[0-9a-f]+\\.tmp$`);
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** `root` is a real path. Files above `limit` bytes are not read. */
export async function readFolder(root: string, limit: number): Promise<SyncedFiles> {
  const found: SyncedFiles = { files: new Map(), skipped: [] };
  await readDirectory(root, '', limit, found);
  return found;
}

async function readDirectory(
  directory: string,
  prefix: string,
  limit: number,
  found: SyncedFiles,
): Promise<void> {
  for (const entry of entriesOf(directory, prefix, found)) {
    const path = join(directory, entry.name);
    // Of a sync that was killed: this process has the lock.
    if (LEFTOVER.test(entry.name)) rmSync(path, { force: true });
    if (isHidden(entry.name)) continue;
    // Some file systems give names in another form than they were written in.
    const key = `${prefix}${entry.name.normalize('NFC')}`;
    if (entry.isSymbolicLink()) found.skipped.push({ key, reason: 'it is a link' });
    else if (entry.isDirectory()) await readDirectory(path, `${key}/`, limit, found);
    else if (!entry.isFile()) found.skipped.push({ key, reason: 'it is not a regular file' });
    else {
      const file = found.files.has(key)
        ? 'another file has this name in another Unicode form'
        : await readLocal(key, path, limit);
      if (typeof file === 'string') found.skipped.push({ key, reason: file });
      else if (file !== null) found.files.set(key, file);
    }
  }
}

/** None of a folder that cannot be read: what it has is left as it is on both sides. */
function entriesOf(directory: string, prefix: string, found: SyncedFiles): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    const code = systemCode(error);
    if (prefix === '' || code === undefined) throw error;
    if (code !== 'ENOENT')
      found.skipped.push({ key: prefix.slice(0, -1), reason: `it cannot be read (${code})` });
    return [];
  }
}

/** A reason if it cannot be synchronised; null if it is gone. */
export async function readLocal(
  key: string,
  path: string,
  limit: number,
): Promise<LocalFile | string | null> {
  const problem = keyProblem(key);
  if (problem !== null) return `its name cannot be a key: ${problem}`;
  try {
    const { size } = lstatSync(path);
    if (size > limit) return `it has ${size} bytes, and the limit is ${limit}`;
    const { bytes, version, stats } = await loadFile(path);
    if (bytes.length > limit) return `it has more than ${limit} bytes`;
    const text = UTF8.decode(bytes);
    if (text.includes('\0')) return 'it is binary';
    return { key, path, bytes, checksum: version, stats };
  } catch (error) {
    if (error instanceof TypeError) return 'it is not UTF-8';
    const code = systemCode(error);
    if (code === 'EISDIR') return 'a folder has this name here: rename the folder, or the key on the server';
    return code === 'ENOENT' ? null : `it cannot be read (${code ?? 'it failed'})`;
  }
}

/** Leaves out keys below what is left out: a folder that cannot be read, or that a link took the place of, is not empty. */
export function leaveBelow(
  keys: Iterable<string>,
  files: ReadonlyMap<string, LocalFile>,
  left: Map<string, string>,
): void {
  const above = [...left].map(([key, reason]) => [`${key}/`, reason] as const);
  for (const key of keys) {
    const [folder, reason] = above.find(([name]) => key.startsWith(name)) ?? [];
    if (folder !== undefined && !files.has(key)) left.set(key, `its folder ${folder} is left out: ${reason}`);
  }
}

/** Leaves out keys that are one file where case does not count: none of them can be told from the others. */
export function leaveTwins(
  files: ReadonlyMap<string, LocalFile>,
  server: ReadonlyMap<string, MemoryEntry>,
  agreed: Iterable<string>,
  left: Map<string, string>,
): void {
  const isThere = (key: string): boolean => server.get(key)?.deleted === false;
  const reason = (other: string): string => `it differs from "${other}" in case or form only: rename one`;
  for (const [key, other] of localTwins(files.keys())) if (!isThere(key)) left.set(key, reason(other));
  const byFold = new Map([...server.keys(), ...agreed].filter(isThere).map((key) => [foldedKey(key), key]));
  for (const key of files.keys()) {
    const other = byFold.get(foldedKey(key));
    if (other === undefined || other === key || files.has(other)) continue;
    left.set(key, reason(other)).set(other, reason(key));
  }
}

function localTwins(keys: Iterable<string>): Map<string, string> {
  const first = new Map<string, string>();
  const twins = new Map<string, string>();
  for (const key of keys) {
    const other = first.get(foldedKey(key));
    if (other === undefined) first.set(foldedKey(key), key);
    else twins.set(key, other).set(other, key);
  }
  return twins;
}

/** Gives a file or folder another spelling of its name; both are below the root. Leaves it where it cannot be done. */
export function renameLocal(root: string, from: string, to: string): void {
  const [source, target] = [join(root, from), join(root, to)];
  try {
    const there = lstatSync(target, { bigint: true, throwIfNoEntry: false });
    const own = lstatSync(source, { bigint: true });
    // Where case does not count both names lead to the same.
    if (there === undefined || (there.ino === own.ino && there.dev === own.dev)) renameSync(source, target);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
  }
}

export type LocalChange = 'done' | 'overtaken' | 'link';

/** `known` is the file as it was read; null if there was none. */
export async function writeLocal(
  path: string,
  bytes: Uint8Array,
  known: LocalFile | null,
): Promise<LocalChange> {
  const current =
    known === null ? null : { stats: known.stats, unchanged: (at: string) => isUnchanged(at, known) };
  const outcome = await replaceFile(path, bytes, { owner: OWNER, current });
  return outcome === 'moved' ? 'link' : outcome;
}

/** Moves it aside first, so that an edit between the look and the removal is seen and put back. */
export function removeLocal(root: string, known: LocalFile): LocalChange {
  const aside = join(root, STATE_DIRECTORY, `removed-${randomBytes(6).toString('hex')}`);
  try {
    if (!isUnchanged(known.path, known)) return 'overtaken';
    renameSync(known.path, aside);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 'overtaken';
    throw error;
  }
  if (digestOf(readFileSync(aside)) !== known.checksum) {
    // Fails where a new file has come: then both are kept, this one aside.
    linkSync(aside, known.path);
    rmSync(aside);
    return 'overtaken';
  }
  rmSync(aside);
  removeEmpty(root, dirname(known.path));
  return 'done';
}

function isUnchanged(path: string, known: LocalFile): boolean {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return (
    stats !== undefined && sameStamp(stats, known.stats) && digestOf(readFileSync(path)) === known.checksum
  );
}

function removeEmpty(root: string, directory: string): void {
  if (directory === root) return;
  try {
    rmdirSync(directory);
  } catch {
    return; // it has something in it
  }
  removeEmpty(root, dirname(directory));
}

/** The same for the same text: a second try makes no second copy. */
export function conflictKey({ key, checksum }: LocalFile): string {
  const ending = extname(key);
  const mark = Buffer.from(checksum, 'base64url').toString('hex').slice(0, 8);
  return `${key.slice(0, key.length - ending.length)}.conflict-${mark}${ending}`;
}
