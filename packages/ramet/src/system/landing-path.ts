/**
 * Where paths really lead (SEC-1), and whether one lies inside another. `isInside` and `pathInside` ask nothing on disk:
 * who cares where links lead resolves them first. The others follow links, and return null when nothing can be written
 * there: a file in the way, a ring of links.
 */
import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { systemCode } from '../schema/errors.ts';

export function landingPath(path: string): string | null {
  try {
    return realPath(path);
  } catch {
    return null;
  }
}

const MOST_NAMES = 100;

/**
 * Where a program in `directory` would open `path`. Links are followed before `..` is, as the kernel does: `link/..`
 * is the parent of where the link leads.
 */
export function openedPath(directory: string, path: string): string | null {
  let place = isAbsolute(path) ? '/' : landingPath(directory);
  const names = path.split('/');
  // Each name costs a look at the disk: a text that is no path could hold thousands.
  const short = names.length > MOST_NAMES ? resolve(directory, path).split('/') : names;
  if (short.length > MOST_NAMES) return null;
  if (short !== names) place = '/';
  for (const name of short) {
    if (place === null) return null;
    if (name === '..') place = dirname(place);
    else if (name !== '' && name !== '.') place = landingPath(join(place, name));
  }
  return place;
}

/** The path relative to a directory, links resolved in both; null when it is not below it. */
export function placeInside(path: string, directory: string): string | null {
  const [place, root] = [landingPath(path), landingPath(directory)];
  if (place === null || root === null) return null;
  return pathInside(place, root);
}

/**
 * Where a write to `path` would land: symlinks resolved, also when the last parts do not exist yet and when a
 * link points at nothing. Every check is made on this path, never on the one that was asked for (SEC-1).
 */
export function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
  const parent = dirname(path);
  if (parent === path) return path;
  const place = join(realPath(parent), basename(path));
  const target = linkTarget(place);
  return target === null ? place : realPath(resolve(dirname(place), target));
}

/** Where a path leads that exists; null for one that does not, and where nobody may look. */
export function existingPath(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

/** True for the directory itself and for everything below it. Both must be absolute, else false. */
export function isInside(path: string, directory: string): boolean {
  return pathInside(path, directory) !== null;
}

/** The path as seen from the directory: '' for the directory itself, null when it is not inside. */
export function pathInside(path: string, directory: string): string | null {
  if (!isAbsolute(path) || !isAbsolute(directory)) return null;
  const inside = relative(directory, path);
  return inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside) ? null : inside;
}

/** Why a file that is not found may still be meant to be there, in a few words; null if it is simply absent. */
export function brokenWay(path: string, needsFolder: boolean): string | null {
  const folder = dirname(path);
  if (leadsNowhere(path)) return 'it is a link that leads nowhere';
  if (needsFolder && leadsNowhere(folder)) return `${folder} is a link that leads nowhere`;
  const isFile = needsFolder && statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false;
  return isFile ? `${folder} is no folder` : null;
}

function leadsNowhere(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink() && statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    // Nothing is there, not even a link.
    return false;
  }
}
