/** Which processes work in a directory: those that stand in it. */
import { readdirSync, readlinkSync } from 'node:fs';
import { isInside } from '../../../system/path-inside.ts';

/**
 * Their ids; null where the system does not tell. A process of another user does not let itself be looked at, and
 * counts as elsewhere: it could not have got into a directory of this user alone.
 */
export function processesInside(directory: string): number[] | null {
  try {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.filter((pid) => isInside(workingDirectory(pid), directory)).map(Number);
  } catch {
    return null;
  }
}

function workingDirectory(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}
