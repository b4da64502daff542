/**
 * One file of memory: read within limits, and replaced. A person may save it at any time, with any program.
 *
 * Invariants
 * 1. A file is replaced only if it still has the text that the change was made from. It is moved aside first and compared there, and the
 *    new one replaces no other: a save between the last look and the replacement is seen, and stays. Only what a program
 *    writes later through a file that it had opened before goes with the old file.
 * 2. While a file is aside, readers find it there; if the process was killed then, the next change puts it back.
 * 3. A read-only file, one that is no text, and one with open conflicts are a person's business: they stay.
 */
import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { describeError, systemCode, UserMistake } from '../../schema/errors.ts';
import { makePrivateDirectory, PRIVATE_FILE } from '../../system/home.ts';
import { landingPath, realPath } from '../../system/landing-path.ts';
import { openFiles, processIds } from '../../system/processes/process-table.ts';

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

/** A file that waits to be put in its place. */
export interface WaitingFile extends Disposable {
  /** False if the file no longer is what it was. */
  putInPlace(): boolean;
}

/** Null as `after` removes the file. */
export function prepareFile(path: string, before: string | null, after: string | null): WaitingFile {
  const real = before === null ? path : realPath(path);
  putBack(real);
  if (after === null)
    return {
      putInPlace: () => readWholeText(real) === before && moveAside(real, before),
      [Symbol.dispose]: () => {},
    };
  makePrivateDirectory(dirname(real));
  const temporary = join(dirname(real), `.ramet-memory-${randomBytes(6).toString('hex')}.tmp`);
  const mode = before === null ? PRIVATE_FILE : statSync(real).mode & 0o777;
  try {
    const descriptor = openSync(temporary, 'wx', PRIVATE_FILE);
    try {
      writeFileSync(descriptor, after);
      fchmodSync(descriptor, mode);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return {
    putInPlace() {
      if (before === null) return linkNew(temporary, real);
      if (readWholeText(real) !== before) return false;
      return moveAside(real, before, () => linkNew(temporary, real));
    },
    [Symbol.dispose]: () => rmSync(temporary, { force: true }),
  };
}

/** The folders of a file that was removed, up to `root`; those that have anything else stay. */
export function removeEmptyFolders(root: string, path: string): void {
  for (let folder = dirname(path); folder.startsWith(`${root}${sep}`); folder = dirname(folder))
    try {
      rmdirSync(folder);
    } catch {
      return; // There is something else in it, or it is a link.
    }
}

/** What a killed process left beside a file that it has replaced: texts that waited, and the old one, if nobody misses that. */
export function removeLeftovers(path: string, old: string | null): void {
  const real = realPath(path);
  const aside = asideOf(real);
  if (!existsSync(dirname(real))) return;
  if (existsSync(aside) && existsSync(real) && readWholeText(aside) === old) rmSync(aside);
  for (const name of readdirSync(dirname(real)))
    if (/^\.ramet-memory-[0-9a-f]{12}\.tmp$/.test(name)) rmSync(join(dirname(real), name), { force: true });
}

/** Whether the old file waits aside while another has come to its place. */
export function isBesideAnother(path: string): boolean {
  const real = realPath(path);
  return existsSync(asideOf(real)) && existsSync(real);
}

/** The name of the file that waits under this name; null if none does. */
export function nameOfAside(name: string): string | null {
  return /^\.ramet-replacing-(.+)\.tmp$/.exec(name)?.[1] ?? null;
}

/** Nobody takes it for memory, nor sends it to a team. */
function asideOf(real: string): string {
  return join(dirname(real), `.ramet-replacing-${basename(real)}.tmp`);
}

/** Takes the file out of its place, and looks at what was taken: if it is not what was expected, it goes back. */
function moveAside(real: string, before: string | null, replace: () => boolean = () => true): boolean {
  const aside = asideOf(real);
  renameSync(real, aside);
  let isAsExpected = false;
  try {
    isAsExpected = readWholeText(aside) === before;
  } catch {
    // It is no memory any more: a person's business.
  }
  if (!isAsExpected) {
    putBack(real);
    return false;
  }
  try {
    const isReplaced = replace();
    // A program that saves empties the file first, and writes it in pieces: what it is about to write must have a name.
    if (isBeingWritten(aside) ?? before === '') renameSync(aside, keptName(real));
    else rmSync(aside);
    return isReplaced;
  } catch (error) {
    putBack(real);
    throw error;
  }
}

/** What is aside goes back to its place; if another has come there, both stay. */
export function putBack(real: string): void {
  const aside = asideOf(real);
  if (!existsSync(aside)) return;
  if (linkNew(aside, real)) rmSync(aside, { force: true });
  else renameSync(aside, keptName(real));
}

function keptName(real: string): string {
  return real.replace(/(?:\.md)?$/, `.kept-${randomBytes(4).toString('hex')}.md`);
}

/** A link fails where a file has come to be, which a rename does not. */
function linkNew(temporary: string, path: string): boolean {
  try {
    linkSync(temporary, path);
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EEXIST') return false;
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS') throw error;
    renameSync(temporary, path);
    return true;
  }
}

function notUsable(path: string, reason: string): UserMistake {
  return new UserMistake('memory_file', `cannot use the memory file ${path}: ${reason}`);
}

/** Of the flags of an open file. */
const MAY_WRITE = 0o3;

/** Whether a process has this file open to write, as far as the system tells; null where it tells nothing. */
function isBeingWritten(file: string): boolean | null {
  const processes = processIds();
  return (
    processes?.some((pid) =>
      openFiles(pid)?.some(({ descriptor, target }) => target === file && mayWrite(pid, descriptor)),
    ) ?? null
  );
}

function mayWrite(pid: number, descriptor: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/fdinfo/${descriptor}`, 'utf8'))?.[1];
    return (Number.parseInt(flags ?? '0', 8) & MAY_WRITE) !== 0;
  } catch {
    return false; // It was closed meanwhile.
  }
}
