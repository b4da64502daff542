import { rmSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { sameStamp } from '../system/regular-file.ts';
import { holdDirectory, type Replacement, replaceFile } from '../system/replace-file.ts';
import type { OriginalFiles } from './original-files.ts';
import type { RestorationStep } from './restoration.ts';

/** Carries out one step of an undo. What changed since the plan was made is left alone: `overtaken`. */
export async function restoreFile(
  { restoration: { path, target, mode }, current, action }: RestorationStep,
  originals: OriginalFiles,
  owner: string,
): Promise<Replacement> {
  if (action === 'none') return 'done';
  const unchanged = (place: string): boolean => {
    const stats = statSync(place, { bigint: true, throwIfNoEntry: false });
    return stats !== undefined && current !== null && sameStamp(stats, current.stats);
  };
  if (target === null) return removeUnchanged(path, unchanged);
  const bytes = originals.read(target);
  if (bytes === null) throw new Error(`the original of ${path} is damaged`);
  return replaceFile(path, bytes, {
    owner,
    current: current === null ? null : { stats: current.stats, unchanged },
    mode,
  });
}

function removeUnchanged(path: string, unchanged: (place: string) => boolean): Replacement {
  using directory = holdDirectory(dirname(path), { make: false });
  if (directory === null) return 'moved';
  const place = directory.at(basename(path));
  if (!unchanged(place)) return 'overtaken';
  rmSync(place);
  return 'done';
}
