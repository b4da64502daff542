/**
 * Puts a small file in place in one step: nobody ever reads half of it, and a failure leaves what was there and nothing
 * else. For files of Ramet itself and of git; what an agent writes takes `system/replace-file.ts`, which also sees
 * what others wrote meanwhile.
 *
 * It does not wait for the disk (no fsync): after a power cut the old file or an empty one may be there.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, fchmodSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';

/** Without `mode`, the file keeps the one it has; a new file gets what the process's mask leaves. */
export function replaceWhole(path: string, content: string | Uint8Array, mode?: number): void {
  const wanted = mode ?? modeOf(path);
  // A name that nobody can guess, and never one that exists: a link planted there would lead elsewhere.
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const descriptor = openSync(temporary, 'wx', wanted ?? 0o666);
    try {
      writeFileSync(descriptor, content);
      if (wanted !== undefined) fchmodSync(descriptor, wanted);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function modeOf(path: string): number | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? undefined : stats.mode & 0o777;
}
