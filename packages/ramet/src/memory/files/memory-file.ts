/** One file of memory, read within limits. While it is replaced (`replaced-file.ts`) it waits aside, and is found there. */
import { isUtf8 } from 'node:buffer';
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describeError, systemCode, UserMistake } from '../../schema/errors.ts';
import { landingPath } from '../../system/landing-path.ts';
import { INDEX_FILE } from './memory-places.ts';

/** A longer one is no memory: it is neither changed nor kept in the history. */
export const LONGEST_FILE: number = 1 << 20;

const CONFLICT = /^(?:<{7} .*|={7}|>{7} .*)$/m;

/** The beginning of a text file, up to `most` bytes; null for a missing file. Throws a mistake for anything else. */
export function readStart(path: string, most: number): { text: string; bytes: number } | null {
  const descriptor = openToRead(path) ?? openToRead(asideOf(landingPath(path) ?? path)) ?? openToRead(path);
  if (descriptor === null) {
    if (isLink(path)) throw notUsable(path, 'it is a link that leads nowhere');
    return null;
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw notUsable(path, 'it is no regular file');
    const buffer = Buffer.allocUnsafe(Math.min(most, stats.size));
    let length = 0;
    for (let count = -1; count !== 0 && length < buffer.length; length += count)
      count = readSync(descriptor, buffer, length, buffer.length - length, null);
    const read = buffer.subarray(0, length);
    const isCut = stats.size > length;
    const whole = isCut ? untilLine(read) : read;
    if (whole.includes(0) || !isUtf8(whole)) throw notUsable(path, 'it is no UTF-8 text');
    return { text: whole.toString(), bytes: stats.size };
  } finally {
    closeSync(descriptor);
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** Null for a missing file. */
function openToRead(path: string): number | null {
  try {
    if (!statSync(path).isFile()) throw notUsable(path, 'it is no regular file');
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error instanceof UserMistake ? error : notUsable(path, code ?? describeError(error));
  }
}

/** A cut inside a character would make the rest no text. */
function untilLine(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf(0x0a);
  if (end !== -1) return bytes.subarray(0, end + 1);
  let last = bytes.length;
  while (last > 0 && ((bytes[last - 1] ?? 0) & 0xc0) === 0x80) last -= 1;
  return bytes.subarray(0, Math.max(0, last - 1));
}

/** The whole file; null for a missing one. */
export function readWholeText(path: string): string | null {
  const found = readStart(path, LONGEST_FILE + 1);
  if (found !== null && found.bytes > LONGEST_FILE)
    throw notUsable(path, `it has ${found.bytes} bytes, and memory has at most ${LONGEST_FILE} in a file`);
  return found?.text ?? null;
}

/** Throws for a file that no agent may change. `before` is what it has. */
export function requireChangeable(path: string, before: string | null): void {
  if (before === null) return;
  // One that a killed process has left aside has no mode to look at.
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0o600;
  if ((mode & 0o222) === 0) throw notUsable(path, 'it is read-only');
  if (CONFLICT.test(before)) throw notUsable(path, 'it has conflict markers: resolve them first');
}

/** Paths of the files of memory below a folder, in order. */
export function textFiles(folder: string): string[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // there is no memory yet
  }
  // One that is being replaced waits under another name.
  const found = new Map(entries.map((entry) => [nameOfAside(entry.name) ?? entry.name, entry.isDirectory()]));
  return [...found]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, isFolder]) => {
      const path = join(folder, name);
      // A folder in the place of the file: who reads it says so.
      if (isFolder && name !== INDEX_FILE) return name.startsWith('.') ? [] : textFiles(path);
      return name.endsWith('.md') ? [path] : [];
    });
}

/** The name of the file that waits under this name; null if none does. */
function nameOfAside(name: string): string | null {
  return /^\.ramet-replacing-(.+)\.tmp$/.exec(name)?.[1] ?? null;
}

/** Nobody takes it for memory, nor sends it to a team. */
export function asideOf(real: string): string {
  return join(dirname(real), `.ramet-replacing-${basename(real)}.tmp`);
}

function notUsable(path: string, reason: string): UserMistake {
  return new UserMistake('memory_file', `cannot use the memory file ${path}: ${reason}`);
}
