import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { systemCode } from '../schema/errors.ts';

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

function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
