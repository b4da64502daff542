/** Whether one path lies inside another. Nothing on disk is asked: who cares where links lead resolves them first. */
import { isAbsolute, relative, sep } from 'node:path';

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
