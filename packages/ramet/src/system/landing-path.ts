/** Where paths really lead (SEC-1). Null when nothing can be written there: a file in the way, a ring of links. */
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { pathInside } from './path-inside.ts';
import { realPath } from './real-path.ts';

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
