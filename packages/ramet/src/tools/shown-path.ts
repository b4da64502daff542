import { relative, resolve, sep } from 'node:path';

/** A path as results show it: relative to the agent's directory where it lies below, else absolute. */
export function shownPath(cwd: string, path: string): string {
  const absolute = resolve(cwd, path);
  const below = relative(cwd, absolute);
  return below === '' || below === '..' || below.startsWith(`..${sep}`) ? absolute : below;
}
