/** A disk without room makes git and checks fail in many words. It is named as such, and no branch is blamed for it. */
import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describeError, RametError, systemCode } from '../../schema/errors.ts';

/** What is free where `directory` is, in bytes; null when that cannot be told. */
export type DiskRoom = (directory: string) => number | null;

const TOO_LITTLE = 1_000_000;
const SAYS_FULL = /No space left on device|Disk quota exceeded|\bENOSPC\b|\bEDQUOT\b/;

/** What a run needs room for: the files of the check, and what the check itself writes. */
export function fullDisk(directories: readonly string[], room: DiskRoom = freeBytes): RametError | null {
  const full = [...directories, tmpdir()].find((place) => (room(place) ?? TOO_LITTLE) < TOO_LITTLE);
  return full === undefined ? null : noRoom(full);
}

/** Also where git was refused room and has given back what it had. */
export function fullDiskFrom(
  error: unknown,
  directories: readonly string[],
  room?: DiskRoom,
): RametError | null {
  const code = systemCode(error);
  const says = code === 'ENOSPC' || code === 'EDQUOT' || SAYS_FULL.test(describeError(error));
  return says ? noRoom(directories.join(' or ')) : fullDisk(directories, room);
}

/** A program of the check may say it of another disk, or in a test of it. */
export function saysFull(text: string): string | undefined {
  const found = SAYS_FULL.exec(text)?.[0];
  return found === undefined
    ? undefined
    : `it says ${JSON.stringify(found)}: make sure that there is free space on the disk, then merge again`;
}

function noRoom(directory: string): RametError {
  return new RametError(
    'disk_full',
    'terminal',
    `the disk is full: the check has no room in ${directory}; nothing has landed. Free some space (ramet gc lists what Ramet keeps), then run the same command again`,
  );
}

function freeBytes(directory: string): number | null {
  try {
    const { bavail, bfree, bsize, files, ffree } = statfsSync(directory);
    if (files > 0 && ffree === 0) return 0;
    // What is set aside for root is room for root.
    return (process.getuid?.() === 0 ? bfree : bavail) * bsize;
  } catch {
    return null;
  }
}
