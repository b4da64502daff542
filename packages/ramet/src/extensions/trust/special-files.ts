/** Files that nobody can trust: what is read from a pipe, a socket or a device is not there before. */
import { statSync } from 'node:fs';
import { relative } from 'node:path';
import { isInside, realPath } from '../../system/landing-path.ts';
import { isTemporary } from './repository-look.ts';
import type { NamedPath } from './word-names.ts';

/** Null for a file or a folder, and for what is not there. */
function kindOf(path: string): 'a pipe' | 'a socket' | 'a device' | null {
  try {
    const stats = statSync(path);
    if (stats.isFile() || stats.isDirectory()) return null;
    return stats.isFIFO() ? 'a pipe' : stats.isSocket() ? 'a socket' : 'a device';
  } catch {
    return null;
  }
}

/** Why it cannot be trusted, and the way out, in one line; null where it can. */
export function specialProblem(path: string, root: string): string | null {
  const kind = kindOf(path);
  const shown = isInside(path, root) ? relative(root, path) : path;
  return (
    kind && `${shown} is ${kind}, which cannot be trusted: put a file in its place, then run ramet trust`
  );
}

/** The machine's own, such as `/dev/null`: agents can put nothing there. */
export function isElsewhere(
  { path, isAbsolute }: Pick<NamedPath, 'path' | 'isAbsolute'>,
  root: string,
): boolean {
  if (!isAbsolute || isInside(path, root)) return false;
  try {
    const real = realPath(path);
    return !isInside(real, realPath(root)) && !isTemporary(real);
  } catch {
    return false;
  }
}
