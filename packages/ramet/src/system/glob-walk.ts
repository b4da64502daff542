/** Files and folders of a directory that a pattern of `glob-pattern.ts` matches, on disk. */
import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type GlobPattern, splitGlobBase } from './glob-pattern.ts';

export type ParsedGlob = Extract<GlobPattern, { ok: true }>;

/** Never looked into, nor found: they hold thousands of files, and none that is the project's own. */
const PASSED_OVER = /(?:^|\/)(?:node_modules|\.git)(?:\/|$)/;

/**
 * Relative to `root`, sorted. Only folders that may hold a match are read; links to folders are found and not followed,
 * but for those that the pattern names before its first wildcard. What cannot be read holds nothing.
 */
export function globPaths(root: string, pattern: string, glob: ParsedGlob): string[] {
  const found: string[] = [];
  const look = (folder: string): void => {
    for (const entry of entriesOf(join(root, folder))) {
      const path = join(folder, entry.name);
      if (PASSED_OVER.test(path)) continue;
      if (glob.matches(path)) found.push(path);
      if (entry.isDirectory() && glob.leadsInto(path)) look(path);
    }
  };
  if (/[*?[{\\]/.test(pattern)) look(splitGlobBase(pattern).base);
  else if (!PASSED_OVER.test(pattern) && exists(join(root, pattern))) found.push(join(pattern));
  return found.sort();
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // a file stands where a folder should
  }
}
