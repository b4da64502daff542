import { chmodSync, rmSync, statSync } from 'node:fs';
import type { OriginalFiles } from './original-files.ts';
import { sameStamp } from './regular-file.ts';
import { type Replacement, replaceFile } from './replace-file.ts';
import type { RestorationStep } from './restoration.ts';

/** Carries out one step of an undo. What changed since the plan was made is left alone: `overtaken`. */
export async function restoreFile(
  { restoration: { path, target, mode }, current, action }: RestorationStep,
  originals: OriginalFiles,
  owner: string,
): Promise<Replacement> {
  if (action === 'none') return 'done';
  const unchanged = (): boolean => {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats !== undefined && current !== null && sameStamp(stats, current.stats);
  };
  if (target === null) {
    if (!unchanged()) return 'overtaken';
    rmSync(path);
    return 'done';
  }
  const bytes = originals.read(target);
  if (bytes === null) throw new Error(`the original of ${path} is damaged`);
  const outcome = await replaceFile(path, bytes, {
    owner,
    current: current === null ? null : { stats: current.stats, unchanged },
  });
  if (current === null && mode !== null && outcome === 'done') chmodSync(path, mode);
  return outcome;
}
