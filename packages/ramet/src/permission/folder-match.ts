/** Whether a folder holds files that a pattern is about, for what changes folders as a whole. Looks at the disk. */
import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { GlobPattern } from '../system/glob-pattern.ts';
import { pathInside } from '../system/landing-path.ts';

/** A folder with more is taken to hold one. */
const MOST_LOOKED_AT = 5_000;
/** A name that no pattern is about but one that is about everything there. */
const ANYTHING = '\u0001';
/** Others' files: a rule about a README means one's own. */
const OF_OTHERS: ReadonlySet<string> = new Set(['node_modules', '.git']);

/** Patterns start from `start`; both absolute. A folder that does not exist holds nothing. */
export function holdsMatch(folder: string, start: string, globs: readonly GlobPattern[]): boolean {
  const first = entriesOf(folder);
  if (first === null) return false;
  const inside = pathInside(folder, start);
  const matches = (path: string): boolean => globs.some((glob) => glob.ok && glob.matches(path));
  if (inside !== null && inside !== '' && matches(`${inside}/${ANYTHING}`)) return true;
  if (inside === null && pathInside(start, folder) === null) return false;
  const isOfOthers = folder.split('/').some((name) => OF_OTHERS.has(name));
  return !isOfOthers && search(inside === null ? start : folder, start, globs, matches);
}

function search(
  from: string,
  start: string,
  globs: readonly GlobPattern[],
  matches: (path: string) => boolean,
): boolean {
  let looked = 0;
  const open = [from];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const entry of entriesOf(folder) ?? []) {
      looked += 1;
      const path = join(folder, entry.name);
      const inside = pathInside(path, start) ?? '';
      if (matches(inside) || looked > MOST_LOOKED_AT) return true;
      const leads = entry.isDirectory() && !OF_OTHERS.has(entry.name);
      if (leads && globs.some((glob) => glob.ok && glob.leadsInto(inside))) open.push(path);
    }
  }
  return false;
}

function entriesOf(folder: string): Dirent[] | null {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return null;
  }
}
