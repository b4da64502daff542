/**
 * The bytes of files as they were before an agent changed them, for `ramet undo`. Kept outside the journal, since a
 * file may hold secrets: private files named by version, so equal content is kept once.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { versionOf } from '../system/regular-file.ts';
import { replaceWhole } from '../system/replace-whole.ts';

/** Larger files are changed without an original; undo says so. */
export const LARGEST_ORIGINAL: number = 5_000_000;

export interface OriginalFiles {
  /** Keeps bytes up to `limit`. Throws the system's error when they cannot be written. */
  keep(version: string, bytes: Uint8Array, limit?: number): void;
  has(version: string): boolean;
  /** Null when they were not kept, or are damaged. */
  read(version: string): Uint8Array | null;
}

/** `directory` is the session's; it may not exist yet. */
export function createOriginalFiles(directory: string): OriginalFiles {
  const place = join(directory, 'originals');
  const pathOf = (version: string): string => join(place, version);
  return {
    keep(version, bytes, limit = LARGEST_ORIGINAL) {
      if (bytes.byteLength > limit || existsSync(pathOf(version))) return;
      mkdirSync(place, { recursive: true, mode: 0o700 });
      // A process killed half-way must not leave half a file under the name of the whole.
      replaceWhole(pathOf(version), bytes, 0o600);
    },
    has: (version) => existsSync(pathOf(version)),
    read(version) {
      if (!existsSync(pathOf(version))) return null;
      const bytes = readFileSync(pathOf(version));
      return versionOf(bytes) === version ? bytes : null;
    },
  };
}
