import { resolve } from 'node:path';
import { pathInside } from '../../system/path-inside.ts';

/** A path as results show it: relative to the agent's directory where it lies below, else absolute. */
export function shownPath(cwd: string, path: string): string {
  const absolute = resolve(cwd, path);
  return pathInside(absolute, cwd) || absolute;
}
