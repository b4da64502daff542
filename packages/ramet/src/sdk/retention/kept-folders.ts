/**
 * Folders that `ramet worktree rm --force` moved aside because no commit can hold them. They are of all repositories of
 * this home, and may be the only copy: only `--work` removes them, once they are old.
 */
import { lstatSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError } from '../../schema/errors.ts';
import type { Holding, HoldingOptions } from './holding.ts';
import { DAY_MS, filesBelow } from './session-holdings.ts';

export const WORK_STAYS = '(--work removes it)';

export function keptFolders({ place, now, days, work }: HoldingOptions): Holding[] {
  const directory = join(place.home, 'kept');
  return namesIn(directory).flatMap((name): Holding[] => {
    const path = join(directory, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return [];
    const young = now - stats.mtimeMs < days * DAY_MS;
    return [
      {
        kind: 'kept folder',
        name: path,
        usedAt: stats.mtimeMs,
        bytes: filesBelow(path).reduce((sum, { size }) => sum + size, 0),
        parts: null,
        keep: !work ? `it has changes of a removed worktree ${WORK_STAYS}` : young ? 'it is recent' : null,
        young: work && young,
        remove: () =>
          rm(path, { recursive: true, force: true }).then(
            () => null,
            (error: unknown) => describeError(error),
          ),
      },
    ];
  });
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // nothing was ever kept
  }
}
