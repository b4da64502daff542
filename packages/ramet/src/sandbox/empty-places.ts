/**
 * Where a hidden socket goes while bubblewrap starts, bubblewrap makes an empty file in its place, which would be in the way of
 * the program when it starts again. Such a file is removed with the next command, and when this process ends.
 */
import { lstatSync, unlinkSync } from 'node:fs';

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
