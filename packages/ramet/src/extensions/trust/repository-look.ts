/** Looks into a checkout: what is not there, or cannot be read, is nothing. */
import { type Dirent, existsSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isInside } from '../../system/landing-path.ts';
import { readSmallText } from '../../system/regular-file.ts';
import { linksToProcess } from './process-links.ts';

export function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

export function entriesOf(path: string): readonly Dirent[] {
  return readOrNull(path) ?? [];
}

function readOrNull(path: string): readonly Dirent[] | null {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return null;
  }
}

/** Not above the checkout, whose files are all that counts. */
export function nearest(directory: string, name: string): string | null {
  for (let folder = directory; ; folder = dirname(folder)) {
    const path = join(folder, name);
    if (existsSync(path)) return path;
    if (isTop(folder)) return null;
  }
}

/** The directory itself outside git. */
export function checkoutOf(directory: string): string {
  for (let folder = directory; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder;
    if (folder === dirname(folder)) return directory;
  }
}

function isTop(folder: string): boolean {
  return folder === dirname(folder) || existsSync(join(folder, '.git'));
}

/** What npm calls by other names, or runs besides. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  t: ['test'],
  tst: ['test'],
  i: ['install', 'prepare'],
  ci: ['install', 'prepare'],
  install: ['install', 'prepare'],
  it: ['install', 'prepare', 'test'],
  cit: ['install', 'prepare', 'test'],
  rebuild: ['install', 'prepare'],
  pack: ['pack', 'prepare'],
  publish: ['publish', 'prepublishOnly', 'pack', 'prepare'],
  restart: ['restart', 'stop', 'start'],
};
/** What npm runs where no script has that name. */
const WITHOUT_SCRIPT: Readonly<Record<string, string>> = {
  start: 'node server.js',
  install: 'node-gyp rebuild; . ./binding.gyp',
};

/**
 * The scripts of a `package.json` that have one of these names, with what runs before and after them. `isPackage`: it is installed, and
 * its programs run.
 */
export function scriptsOf(
  path: string,
  asked: readonly string[],
  isPackage = false,
): [name: string, script: string][] {
  const names = [...asked, ...(isPackage ? ['install'] : [])]
    .map((text) => text.replace(/^(?:npm|pnpm|yarn|bun|node):/, ''))
    .flatMap((text) => (Object.hasOwn(ALIASES, text) ? (ALIASES[text] ?? []) : [text]));
  // `run-p "lint:*"`
  const patterns = names.filter((name) => name.includes('*')).map(patternOf);
  try {
    const { scripts, bin, name: own, directories } = Object(JSON.parse(readSmallText(path)));
    const programs = programsIn(bin, own, Object(directories).bin);
    const wanted = new Set([...asked, ...names].flatMap((one) => [one, `pre${one}`, `post${one}`]));
    const all: [string, unknown][] = [
      ...Object.entries({ ...WITHOUT_SCRIPT, ...Object(scripts) }),
      ...programs,
    ];
    const called = all.flatMap(([name, script]): [string, string][] =>
      (wanted.has(name) || patterns.some((one) => one.test(name))) && typeof script === 'string'
        ? [[name, script]]
        : [],
    );
    return isPackage ? [...called, ...programs] : called;
  } catch {
    return [];
  }
}

/** A pattern of a shell for the last part of a name, as in `hooks.d/*.sh`. */
export function namePattern(pattern: string): RegExp {
  const parts = pattern.split(/(\*|\?|\[[^\]]*\])/).map(spelled);
  return new RegExp(`^${parts.join('')}$`);
}

function spelled(part: string, at: number): string {
  if (at % 2 === 0) return RegExp.escape(part);
  return part === '*' ? '[^/]*' : part === '?' ? '[^/]' : part.replace(/^\[!/, '[^');
}

function patternOf(text: string): RegExp {
  return new RegExp(`^${text.split(/\*+/).map(RegExp.escape).join('.*')}$`);
}

/** `npx x` runs a program of the package itself before others. */
function programsIn(bin: unknown, own: unknown, folder: unknown): [name: string, script: string][] {
  const named = typeof bin === 'string' ? { [String(own).replace(/^@[^/]*\//, '')]: bin } : Object(bin);
  const files = Object.entries(named).map(([name, file]): [string, string] => [name, `./${file}`]);
  return typeof folder === 'string' ? [...files, [folder, `run-parts ./${folder}`]] : files;
}

/** Where agents may write without a question. */
export function isTemporary(path: string): boolean {
  return [tmpdir(), '/tmp', '/var/tmp', '/dev/shm', '/private/tmp'].some((folder) => isInside(path, folder));
}

export interface ListedFile {
  readonly path: string;
  /** Where a link leads that is not followed: it counts by its text. */
  readonly target: string | null;
}

/** Of folders that count whole. */
export const MOST_LISTED = 3_000;
const LEFT_OUT = new Set(['.git', 'node_modules', '.DS_Store']);
const DEEPEST = 24;

/** What Python can load without being told that it is Python, and lists of further folders. */
const OF_PYTHON = /\.(?:py[cdowz]?|so|pth|zip|egg|whl)$/i;
/** Packages that were installed; what Python compiles itself lies elsewhere. */
const NOT_OF_PYTHON = new Set(['site-packages', '__pycache__']);

/** What counts of one directory, in its order. */
export interface DirectoryList {
  readonly entries: readonly ListedEntry[];
  /** It could be read. */
  readonly isRead: boolean;
}

type ListedEntry =
  | { readonly kind: 'folder' | 'link'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string; readonly file: ListedFile };

export type Language = 'any' | 'python';

export function listDirectory(directory: string, language: Language): DirectoryList {
  const isAny = language === 'any';
  const found = readOrNull(directory);
  const entries = (found ?? []).flatMap((entry): ListedEntry[] => {
    const { name } = entry;
    if (LEFT_OUT.has(name) || (!isAny && NOT_OF_PYTHON.has(name))) return [];
    const path = join(directory, name);
    if (entry.isDirectory()) return [{ kind: 'folder', path }];
    if (entry.isSymbolicLink()) return [{ kind: 'link', path }];
    if (!entry.isFile() || !(isAny || OF_PYTHON.test(name))) return [];
    return [{ kind: 'file', path, file: { path, target: null } }];
  });
  return { entries, isRead: found !== null };
}

/**
 * Every file in it but packages and git's own, or those that Python loads; null for more than `most`. `list` may know what a directory
 * holds; where links lead is found out here.
 */
export function everyFile(
  folder: string,
  most: number,
  language: Language = 'any',
  list: typeof listDirectory = listDirectory,
): readonly ListedFile[] | null {
  const found: ListedFile[] = [];
  const look = (directory: string, depth: number): boolean => {
    if (depth > DEEPEST) return false;
    for (const entry of list(directory, language).entries) {
      const { path } = entry;
      if (entry.kind === 'folder' && !look(path, depth + 1)) return false;
      if (entry.kind === 'link') found.push({ path, target: isFollowed(path) ? null : targetOf(path) });
      else if (entry.kind === 'file') found.push(entry.file);
      if (found.length > most) return false;
    }
    return true;
  };
  return look(folder, 0) ? found : null;
}

function isFollowed(path: string): boolean {
  return isFile(path) && !linksToProcess(path);
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '?';
  }
}
