/**
 * The refs of a git directory, read as files alone: no git runs in it, and no link in it is followed. An agent may write there.
 */
import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PACKED_BYTES, POINTER_BYTES, readOrNull } from '../repository.ts';
import { isCommitId } from '../run-git.ts';

/** More refs are not read. */
const MOST_REFS = 10_000;

/**
 * What refs name, by their full names, packed ones too: a commit, or a tag's own object. `since`: only files that were written since,
 * in milliseconds; all packed refs are in one.
 */
export function refsIn(git: string, since = 0): Map<string, string> {
  const refs = new Map<string, string>();
  const isOld = (name: string): boolean =>
    since > 0 && (lstatSync(join(git, name), { throwIfNoEntry: false })?.mtimeMs ?? 0) < since;
  const add = (id: string | undefined, name: string): void => {
    if (isCommitId(id) && refs.size < MOST_REFS) refs.set(name, id);
  };
  const packed = isOld('packed-refs') ? null : plainText(git, 'packed-refs', PACKED_BYTES);
  for (const line of (packed ?? '').split('\n')) {
    const [id, name = ''] = line.split(' ', 2);
    add(id, name);
  }
  const folders = isFolder(join(git, 'refs')) ? ['refs'] : [];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    for (const entry of isFolder(join(git, next)) ? entriesOf(join(git, next)) : []) {
      const name = `${next}/${entry.name}`;
      if (entry.isDirectory()) folders.push(name);
      else if (!isOld(name)) add(plainText(git, name) ?? undefined, name);
    }
  }
  return refs;
}

/** The text of a file of a git directory; null for none, and for what a link leads to. */
export function plainText(git: string, name: string, mostBytes: number = POINTER_BYTES): string | null {
  const parts = name.split('/');
  const folders = parts.slice(0, -1).map((_, at) => join(git, ...parts.slice(0, at + 1)));
  const isFile = lstatSync(join(git, name), { throwIfNoEntry: false })?.isFile() === true;
  return folders.every(isFolder) && isFile
    ? (readOrNull(join(git, name), mostBytes)?.trimEnd() ?? null)
    : null;
}

export function isFolder(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    // Something above it is no folder.
    return false;
  }
}

export function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
