/**
 * One file of memory, replaced. A person may save it at any time, with any program.
 *
 * Invariants
 * 1. A file is replaced only if it still has the text that the change was made from. It is moved aside first and compared there, and the
 *    new one replaces no other: a save between the last look and the replacement is seen, and stays. What a program writes
 *    later through a file that it had opened before is kept beside.
 * 2. While a file is aside, readers find it there; if the process was killed then, the next change puts it back.
 * 3. A program that adds to the file while it is aside begins a new one: what it has written comes behind the old text.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { systemCode } from '../../schema/errors.ts';
import { makePrivateDirectory, PRIVATE_FILE } from '../../system/home.ts';
import { realPath } from '../../system/landing-path.ts';
import { openFiles, processIds } from '../../system/processes/process-table.ts';
import { asideOf, readWholeText } from './memory-file.ts';

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
    const isBegun = !isReplaced && lacks(real, before);
    if (!isBegun && !isStillWritten(aside, before)) {
      rmSync(aside);
      return isReplaced;
    }
    const kept = keptName(real);
    renameSync(aside, kept);
    if (isBegun) bringBack(real, before ?? '', kept);
    return isReplaced;
  } catch (error) {
    putBack(real);
    throw error;
  }
}

/**
 * A program that saves empties the file first, and writes it in pieces: what it is about to write must have a name. Once nobody has
 * the file open, what was written to it meanwhile is in it.
 */
function isStillWritten(aside: string, before: string | null): boolean {
  try {
    return (isBeingWritten(aside) ?? before === '') || readWholeText(aside) !== before;
  } catch {
    return true; // It is no memory any more.
  }
}

/** A program that adds to a file begins a new one where it finds none: what it has written comes behind the old text. */
function bringBack(real: string, old: string, kept: string): void {
  try {
    const begun = readWholeText(real) ?? '';
    const known = new Set(contentOf(old));
    if (contentOf(begun).some((line) => known.has(line))) return;
    const end = old === '' || old.endsWith('\n') ? '' : '\n';
    using waits = prepareFile(real, begun, `${old}${end}${begun}`);
    if (waits.putInPlace() && !isStillWritten(kept, old)) rmSync(kept);
  } catch {
    // The old text stays beside it.
  }
}

/** Whether a file that has come to the place of another was begun without it. */
function lacks(real: string, before: string | null): boolean {
  try {
    return isBegunByHand(readWholeText(real), before);
  } catch {
    return true;
  }
}

/**
 * Whether a person has begun a new file, because the old one was aside: it has not even half the lines of any text that it could be
 * made from. What is missing in it was not taken out by anybody.
 */
export function isBegunByHand(now: string | null, ...texts: readonly (string | null)[]): boolean {
  const lines = new Set(contentOf(now));
  return !texts.some((text) => {
    const content = contentOf(text);
    return text === now || content.filter((line) => lines.has(line)).length * 2 > content.length;
  });
}

/** Headings are alike in all memory. */
function contentOf(text: string | null): string[] {
  return (text ?? '').split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
}

/** What is aside goes back to its place; if another has come there, both stay. */
export function putBack(real: string): void {
  const aside = asideOf(real);
  if (!existsSync(aside)) return;
  if (linkNew(aside, real)) rmSync(aside, { force: true });
  else renameSync(aside, keptName(real));
}

/** A text that has no other place; once, however often it is tried. */
export function keepBeside(path: string, text: string): void {
  const real = realPath(path);
  const folder = dirname(real);
  makePrivateDirectory(folder);
  const begin = basename(real).replace(/(?:\.md)?$/, '.kept-');
  const kept = readdirSync(folder).filter((name) => name.startsWith(begin) && name.endsWith('.md'));
  if (kept.some((name) => readWholeText(join(folder, name)) === text)) return;
  using waits = prepareFile(keptName(real), null, text);
  waits.putInPlace();
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
