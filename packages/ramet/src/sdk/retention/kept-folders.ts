/**
 * What was moved aside and is in no commit: folders of removed worktrees (`ramet worktree rm --force`), of all repositories of this
 * home, and what was in git's way in its own directory. Each may be the only copy: only `--work` removes it, once it is old.
 */
import { lstatSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError } from '../../schema/errors.ts';
import type { Holding, HoldingOptions } from './holding.ts';
import { DAY_MS, filesBelow } from './session-holdings.ts';

export const WORK_STAYS = '(--work removes it)';

export function keptFolders(options: HoldingOptions): Holding[] {
  const why = 'it has changes of a removed worktree';
  return movedAside(join(options.place.home, 'kept'), { kind: 'kept folder', why }, options);
}

export function setAsides(options: HoldingOptions): Holding[] {
  const { repository } = options.place;
  if (repository === null) return [];
  const directory = join(repository.commonDirectory, 'ramet', 'set-aside');
  const why = "it was in git's way, and may be the only copy";
  return movedAside(directory, { kind: 'set aside', why }, options);
}

function movedAside(
  directory: string,
  { kind, why }: Pick<Holding, 'kind'> & { why: string },
  { now, days, work }: HoldingOptions,
): Holding[] {
  return namesIn(directory).flatMap((name): Holding[] => {
    const path = join(directory, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return [];
    const young = now - stats.mtimeMs < days * DAY_MS;
    return [
      {
        ...{ kind, name: path, usedAt: stats.mtimeMs, parts: null },
        bytes: stats.isDirectory() ? filesBelow(path).reduce((sum, { size }) => sum + size, 0) : stats.size,
        keep: !work ? `${why} ${WORK_STAYS}` : young ? 'it is recent' : null,
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
