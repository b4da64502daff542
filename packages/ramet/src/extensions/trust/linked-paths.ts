/**
 * Where a name leads from a directory. `..` behind a link to a folder is read in two ways: the kernel follows the link first,
 * and a shell that changes its directory forgets both names. A file counts by either reading.
 */
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { landingPath } from '../../system/landing-path.ts';
import { isDirectory } from './repository-look.ts';

const UP = /(?:^|\/)\.\.(?:\/|$)/;
const MOST_NAMES = 100;

export function linkedPaths(directory: string, name: string): readonly string[] {
  const path = resolve(directory, name);
  if (!UP.test(name)) return [path];
  const opened = openedBy(directory, name);
  return opened === null || opened === path ? [path] : [path, opened];
}

/** For a program that is started there a link is where it leads to. */
export function enteredPaths(directory: string, name: string): string[] {
  return linkedPaths(directory, name).flatMap((path) => {
    if (!isDirectory(path)) return [];
    const real = landingPath(path);
    return real === null || real === path ? [path] : [path, real];
  });
}

/** As the kernel goes; the last name may be a link, and need not be there. */
function openedBy(directory: string, name: string): string | null {
  const names = name.split('/').filter((one) => one !== '' && one !== '.');
  if (names.length > MOST_NAMES) return null;
  let place = isAbsolute(name) ? '/' : directory;
  for (const one of names) {
    const real = one === '..' ? landingPath(place) : null;
    if (one === '..' && real === null) return null;
    place = real === null ? join(place, one) : dirname(real);
  }
  return place;
}
