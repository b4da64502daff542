/** Why a file cannot be written where it is, as far as the system tells; SQLite says little of it. */
import { accessSync, constants, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemCode } from '../../schema/errors.ts';

/** Less than SQLite needs for the files that it keeps beside a database. */
const NO_SPACE_BYTES = 128 * 1024;

export type DiskTrouble = 'full' | 'read-only' | 'no permission' | 'gone';

/** Null when nothing is wrong with its directory. */
export function diskTroubleAt(file: string): DiskTrouble | null {
  const directory = dirname(file);
  try {
    accessSync(directory, constants.W_OK);
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize < NO_SPACE_BYTES ? 'full' : null;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EROFS') return 'read-only';
    if (code === 'EACCES' || code === 'EPERM') return 'no permission';
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'gone' : null;
  }
}

/** Reason and remedy, for one line. */
export const DISK_TROUBLES: Readonly<Record<DiskTrouble, readonly [reason: string, remedy: string]>> = {
  full: ['the disk is full', 'free some space'],
  'read-only': ['the file system is read-only', 'mount it writable'],
  'no permission': ['no permission', 'make its directory writable'],
  gone: ['its directory is gone', 'put it back'],
};
