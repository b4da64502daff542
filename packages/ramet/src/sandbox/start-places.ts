/**
 * Places that the start of bubblewrap needs, and what it leaves in others. Where a hidden socket goes meanwhile, it makes an
 * empty file in its place, which would be in the way of the program when it starts again. Such a file is removed with the next
 * command, and when this process ends.
 */
import { lstatSync, mkdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Git looks at no file there whose name begins with a dot. */
const KEEPER = '.kept';

/**
 * Makes the directories of a fence that are not there. Git removes one for logs with the last log in it, and if that happens
 * while bubblewrap starts, the command fails: so such a directory is never empty.
 */
export function makeFolders(folders: readonly string[]): void {
  for (const folder of folders) {
    mkdirSync(folder, { recursive: true });
    if (folder.includes('/logs/refs/')) keep(folder);
  }
}

function keep(folder: string): void {
  try {
    writeFileSync(join(folder, KEEPER), '', { flag: 'wx' });
  } catch {
    // It is there. Or git was faster, or an agent left something in the way: then the next command tries again.
  }
}

/** As bubblewrap makes it. */
const MODE = 0o444;

const places = new Set<string>();

export function watchPlaces(hidden: readonly string[]): void {
  if (places.size === 0 && hidden.length > 0) process.once('exit', clearPlaces);
  for (const path of hidden) places.add(path);
  clearPlaces();
}

function clearPlaces(): void {
  for (const path of places) {
    try {
      const found = lstatSync(path, { throwIfNoEntry: false });
      const isEmpty = found?.isFile() === true && found.size === 0 && (found.mode & 0o777) === MODE;
      if (isEmpty && found.uid === process.geteuid?.()) unlinkSync(path);
    } catch {
      // It is not for this user to remove.
    }
  }
}
