/**
 * Folders of installed packages that a checkout has: those that are set, or the one at the top and, in a repository
 * of several packages, one in each of them that has its own.
 */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { globPaths, parseGlob } from '../../../system/glob-pattern.ts';
import { readOrNull } from '../../repository.ts';
import type { WorktreePlace } from '../worktree-place.ts';
import { insidePath } from './bring-files.ts';

/** What packages need to know of a place. */
export type PackageGround = Pick<WorktreePlace, 'home' | 'repository' | 'settings'>;

export const DEFAULT_FOLDER = 'node_modules';
/** No real workspace has more than this. */
const MOST_FOLDERS = 500;

export function dependencyFolders({ settings }: Pick<PackageGround, 'settings'>, root: string): string[] {
  const linked = new Set((settings.symlinkDirectories ?? []).map((path) => path.replace(/\/+$/, '')));
  const wanted = settings.dependencies?.map((path) => insidePath('worktree.dependencies', path));
  return (wanted ?? [DEFAULT_FOLDER, ...ofMembers(root)]).filter((path) => !linked.has(path));
}

function ofMembers(root: string): string[] {
  const members = memberFolders(root).map((path) => join(path, DEFAULT_FOLDER));
  return members.filter((path) => isFolder(join(root, path))).slice(0, MOST_FOLDERS);
}

/** Folders that the packages of a workspace may have, whether they are there or not. */
export function possibleFolders({ settings }: Pick<PackageGround, 'settings'>, root: string): string[] {
  if (settings.dependencies !== undefined) return [];
  return memberFolders(root)
    .slice(0, MOST_FOLDERS)
    .map((path) => join(path, DEFAULT_FOLDER));
}

/** The packages of a workspace, as npm, yarn and pnpm write them down. */
function memberFolders(root: string): string[] {
  const patterns = [...npmPatterns(root), ...pnpmPatterns(root)].map((each) =>
    each.replace(/^\.\/|\/+$/g, ''),
  );
  const wanted = patterns.filter((each) => isInside(each) && !each.startsWith('!'));
  const unwanted = patterns.filter((each) => each.startsWith('!')).map((each) => each.slice(1));
  if (wanted.length === 0) return [];
  const not = new Set(unwanted.filter(isInside).flatMap((pattern) => foldersMatching(root, pattern)));
  const found = new Set(wanted.flatMap((pattern) => foldersMatching(root, pattern)));
  return [...found].filter((path) => !not.has(path)).sort();
}

/** Package managers take `a/**` for `a` and everything below it. A pattern that cannot be read has no members. */
function foldersMatching(root: string, pattern: string): string[] {
  const patterns = pattern.endsWith('/**') ? [pattern, pattern.slice(0, -3)] : [pattern];
  return patterns.flatMap((each) => {
    const glob = parseGlob(each);
    return glob.ok ? globPaths(root, each, glob) : [];
  });
}

function isInside(pattern: string): boolean {
  return pattern !== '' && !pattern.startsWith('/') && !pattern.split('/').includes('..');
}

function npmPatterns(root: string): string[] {
  const workspaces = packageFields(root)?.workspaces;
  const list = isRecord(workspaces) ? workspaces.packages : workspaces;
  return Array.isArray(list) ? list.filter((each) => typeof each === 'string') : [];
}

/** One list in a file of few lines: no parser for it. */
function pnpmPatterns(root: string): string[] {
  const text = readOrNull(join(root, 'pnpm-workspace.yaml')) ?? '';
  const list = /^packages:[ \t]*\n((?:[ \t]*(?:-.*|#.*)?\n?)*)/m.exec(text)?.[1] ?? '';
  return [...list.matchAll(/^[ \t]*-[ \t]*(?:'([^']*)'|"([^"]*)"|([^\s'"#]+))/gm)].map(
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  );
}

/** The content of package.json; null if it is missing or cannot be read. */
export function packageFields(folder: string): Record<string, unknown> | null {
  try {
    const fields: unknown = JSON.parse(readOrNull(join(folder, 'package.json')) ?? '');
    return isRecord(fields) ? fields : null;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isFolder(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false; // a file stands where a folder should
  }
}
