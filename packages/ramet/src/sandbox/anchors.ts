/**
 * Directories that stay where they are (WORK-7). A mount protects what is below it, and not the names above: who may write
 * `/tmp` could rename `/tmp/a`, and the checkout `/tmp/a/b` would lie where no mount of the next command is. The system
 * renames no directory that is a mount itself, so each one on the way to a protected place is mounted on itself.
 */
import { dirname } from 'node:path';
import { existingPath, isInside } from '../system/landing-path.ts';

/** Those between places that everybody can write and `paths`, the outermost first; none in what is closed anyway. */
export function anchorsOf(
  paths: readonly string[],
  shared: readonly string[],
  closed: readonly string[] = [],
): string[] {
  const places = realPlaces(shared);
  const walls = realPlaces(closed);
  const above = realPlaces(paths).flatMap((path) => foldersAbove(path, places));
  return [...new Set(above)].filter((folder) => !isInAny(folder, walls)).toSorted();
}

function foldersAbove(path: string, shared: readonly string[]): string[] {
  const folder = dirname(path);
  if (folder === path || !isInAny(folder, shared)) return [];
  return [...foldersAbove(folder, shared), ...(shared.includes(folder) ? [] : [folder])];
}

export function isInAny(path: string, places: readonly string[]): boolean {
  return places.some((place) => isInside(path, place));
}

export function realPlaces(paths: readonly string[]): string[] {
  return paths.flatMap((path) => existingPath(path) ?? []);
}
