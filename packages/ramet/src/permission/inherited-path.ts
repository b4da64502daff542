/**
 * Paths that an agent in a worktree knows from elsewhere (FORK-6): its conversation, its task or its rules name files of
 * the checkout that the worktree was made from. Such a path means the same file in the worktree.
 *
 * Invariants
 * 1. The worktree itself, Ramet's own directory and the git directory stay what they are, wherever they lie.
 * 2. A path that leads into the checkout by a link is one of the checkout's, also where the link is in the worktree. A link at
 *    the same place, such as a shared node_modules, leads to what the path means, and stays.
 */
import { join, resolve } from 'node:path';
import { counterpart, type WriteFence } from '../sandbox/write-fence.ts';
import { isInside, landingPath } from '../system/landing-path.ts';

export type InheritedPlaces = Pick<WriteFence, 'root' | 'from' | 'inherited' | 'home'>;

/** The path in the worktree that is meant by one of a checkout it comes from; null for every other path. */
export function inheritedPath(places: InheritedPlaces, path: string, cwd: string): string | null {
  const absolute = resolve(cwd, path);
  const named = isInside(absolute, places.root) ? null : twinOf(places, absolute);
  if (named !== null) return named;
  const place = landingPath(absolute);
  if (place === null || place === absolute || isInside(place, places.root)) return null;
  const twin = twinOf(places, place);
  return twin === absolute ? null : twin;
}

function twinOf({ root, from, inherited = [], home }: InheritedPlaces, path: string): string | null {
  for (const checkout of [from, ...inherited]) {
    const kept = [join(checkout, '.git'), ...(home !== undefined && isInside(home, checkout) ? [home] : [])];
    if (kept.some((directory) => isInside(path, directory))) continue;
    const twin = counterpart(path, checkout, root);
    if (twin !== null) return twin;
  }
  return null;
}
