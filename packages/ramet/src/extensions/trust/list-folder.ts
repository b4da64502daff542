/** All files of a folder, with those of its folders, in the order of their names. Links are named and not followed. */
import { type Dirent, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

export interface FolderListing {
  readonly files: readonly string[];
  /** Links, things that are no files, and what is beyond the limits. */
  readonly unfollowed: readonly string[];
}

const DEEPEST = 8;
const LEFT_OUT = new Set(['.git', '.DS_Store']);

/** One more than `most` at the most, so that the caller sees that there are more. */
export function listFolder(folder: string, most: number): FolderListing {
  const files: string[] = [];
  const unfollowed: string[] = [];
  const look = (path: string, depth: number): void => {
    for (const entry of entriesOf(path)) {
      if (LEFT_OUT.has(entry.name)) continue;
      if (files.length > most) return;
      const found = join(path, entry.name);
      if (entry.isFile()) files.push(found);
      else if (entry.isDirectory() && depth < DEEPEST) look(found, depth + 1);
      else unfollowed.push(entry.isSymbolicLink() ? `${found} -> ${targetOf(found)}` : found);
    }
  };
  look(folder, 0);
  return { files, unfollowed };
}

function entriesOf(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '?';
  }
}
