/**
 * Finds the files of a folder of agents, skills or commands and reads them. A thousand small files are read faster one
 * after the other than as promises, so this is synchronous.
 *
 * Invariants
 * 1. What lies outside of the folder's boundary, once links are followed, is never opened.
 * 2. Nothing but regular files is opened, and nothing larger than the limit is read.
 */
import { isUtf8 } from 'node:buffer';
import { constants, type Dirent, readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { extname, sep } from 'node:path';
import { describeError, systemCode } from '../schema/errors.ts';
import { existingPath, isInside } from '../system/landing-path.ts';
import { type ExtensionFolder, realOrSame } from './extension-places.ts';

export const LARGEST_FILE: number = 256 << 10;
const DEEPEST = 8;
const MOST_FILES = 5_000;

export interface FoundFile {
  path: string;
  /** What to open: links are followed. */
  real: string;
  /** Equal as long as nobody has written it. */
  stamp: string;
  /** Why it must not be read. */
  refused: string | null;
}

export interface FolderScan {
  folder: ExtensionFolder;
  /** In the order of their paths. */
  files: FoundFile[];
  /** With their stamps: one that is the same has the same files. */
  directories: Map<string, string>;
  /** What could not be read. */
  unreadable: { path: string; reason: string }[];
}

/** Which files of a folder are wanted. */
export interface ScanRules {
  isWanted(name: string): boolean;
  /** A directory with a file of this name is not looked into any further. */
  endsAt?: string | undefined;
}

/** Agents and commands: a file each. Skills are named by their folder, and lie beside agents in some collections. */
export function filesEndingIn(...extensions: readonly string[]): ScanRules {
  return {
    isWanted: (name) => name !== SKILL_FILE && extensions.includes(extname(name).toLowerCase()),
  };
}

export const SKILL_FILE = 'SKILL.md';

export function scanFolder(folder: ExtensionFolder, rules: ScanRules): FolderScan {
  const scan: FolderScan = { folder, files: [], directories: new Map(), unreadable: [] };
  const boundary = realOrSame(folder.boundary);
  const real = realOrSame(folder.path);
  if (!isInside(real, boundary))
    scan.unreadable.push({ path: folder.path, reason: `it leads out of ${folder.boundary}: refused` });
  else lookInto(scan, { path: folder.path, real }, { boundary, seen: new Set(), ...wantedIn(folder, rules) });
  scan.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return scan;
}

function wantedIn({ only }: ExtensionFolder, rules: ScanRules): Pick<Walk, 'rules' | 'depth'> {
  if (only === undefined) return { rules, depth: 0 };
  return { rules: { isWanted: (name) => name === only }, depth: DEEPEST };
}

interface Walk {
  boundary: string;
  /** Real paths: links may lead in circles. */
  seen: Set<string>;
  depth: number;
  rules: ScanRules;
}

interface Located {
  path: string;
  real: string;
}

function lookInto(scan: FolderScan, { path, real }: Located, walk: Walk): void {
  if (walk.seen.has(real)) return;
  walk.seen.add(real);
  try {
    scan.directories.set(path, stampOf(statSync(real)));
    const entries = readdirSync(real, { withFileTypes: true });
    const last = entries.find(({ name }) => name === walk.rules.endsAt);
    const before = scan.files.length;
    for (const entry of last === undefined ? entries : [last]) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      takeEntry(scan, entry, { path: path + sep + entry.name, real: real + sep + entry.name }, walk);
    }
    const { endsAt } = walk.rules;
    if (endsAt !== undefined && walk.depth === 1 && before === scan.files.length && before < MOST_FILES)
      scan.unreadable.push({ path, reason: `it has no ${endsAt}: left out` });
  } catch (error) {
    scan.unreadable.push({ path, reason: `it cannot be read: ${systemCode(error) ?? describeError(error)}` });
  }
}

function takeEntry(scan: FolderScan, entry: Dirent, { path, real }: Located, walk: Walk): void {
  const isWanted = walk.rules.isWanted(entry.name);
  if (scan.files.length >= MOST_FILES) return;
  if (!entry.isSymbolicLink()) {
    if (entry.isDirectory()) deeper(scan, { path, real }, walk);
    else if (isWanted) scan.files.push(foundFile(path, real));
    return;
  }
  const target = existingPath(real);
  const stats = target === null ? null : statsOf(target);
  const outside = target !== null && !isInside(target, walk.boundary);
  if (target === null || stats === null || outside) {
    const refused = outside
      ? 'it is a link that leads out of its folder: refused'
      : 'it is a link that leads nowhere';
    if (isWanted) scan.files.push({ path, real, stamp: refused, refused });
    else if (outside && stats?.isDirectory()) scan.unreadable.push({ path, reason: refused });
  } else if (stats.isDirectory()) deeper(scan, { path, real: target }, walk);
  else if (isWanted) scan.files.push(foundFile(path, target));
}

function deeper(scan: FolderScan, located: Located, walk: Walk): void {
  if (walk.depth < DEEPEST) lookInto(scan, located, { ...walk, depth: walk.depth + 1 });
}

export function foundFile(path: string, real: string): FoundFile {
  const stats = statsOf(real);
  if (stats === null) return { path, real, stamp: 'gone', refused: 'it is missing or cannot be read' };
  const refused = stats.isFile()
    ? stats.size > LARGEST_FILE
      ? tooLarge(stats.size)
      : null
    : 'it is not a regular file';
  return { path, real, stamp: stampOf(stats), refused };
}

function tooLarge(size: number): string {
  return `it has ${size} bytes, and at most ${LARGEST_FILE} are read`;
}

/** The stamp of a path as it is now; null when it is gone. */
export function currentStamp(path: string): string | null {
  const stats = statsOf(path);
  return stats === null ? null : stampOf(stats);
}

function statsOf(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

function stampOf({ ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${ino}:${size}:${mtimeMs}:${ctimeMs}`;
}

/** Without following links or waiting, in case something else has taken its place since it was checked. */
const OPENING: number = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
const NOT_TEXT = 'it is not UTF-8 text: save it as UTF-8';

/** Its text, or why it cannot be read. */
export function readFound({ real, refused }: FoundFile): { text: string } | { problem: string } {
  if (refused !== null) return { problem: refused };
  try {
    // As text at once: one call, a third of the time of four.
    const text = readFileSync(real, { encoding: 'utf8', flag: OPENING });
    if (text.length > LARGEST_FILE) return { problem: tooLarge(text.length) };
    // What could not be decoded has become this character; so has, seldom, the character itself.
    const isText = !text.includes('\ufffd') || isUtf8(readFileSync(real, { flag: OPENING }));
    return isText ? { text } : { problem: NOT_TEXT };
  } catch (error) {
    return { problem: `it cannot be read: ${systemCode(error) ?? describeError(error)}` };
  }
}
