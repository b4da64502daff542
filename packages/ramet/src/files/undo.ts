/**
 * Undoing what agents wrote: loaded on first use. `restoration.ts` plans, this file carries out. Passes on what else replaces
 * several files of a checkout at once.
 */
import { rmSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Journal } from '../journal/journal.ts';
import { describeError } from '../schema/errors.ts';
import type { EventOf } from '../schema/events.ts';
import { sameStamp } from '../system/regular-file.ts';
import { holdDirectory, type Replacement, removeLeftovers, replaceFile } from '../system/replace-file.ts';
import type { OriginalFiles } from './original-files.ts';
import type { LoadedStep } from './restoration.ts';

export { adoptFiles, finishAdoption, type PreparedFile } from './adopt-files.ts';
export { createOriginalFiles } from './original-files.ts';
export type { LoadedPlan, LoadedStep, RestorationSources, RestorationStep, UndoPlan } from './restoration.ts';
export { planRedo, planUndo } from './restoration.ts';

interface RestorationOrder {
  journal: Journal;
  originals: OriginalFiles;
  kind: EventOf<'files.restored'>['kind'];
  turn: number;
  steps: readonly LoadedStep[];
  /** The rest of one that was interrupted. */
  continues?: boolean;
}

/**
 * Returns the path of every file that could not be restored, with the reason.
 *
 * Invariants
 * 1. What is replaced or removed is kept first and recorded second; only then is a file touched. So every undo can
 *    be taken back, also one that was killed half-way.
 * 2. Its end is recorded too, with the files that failed: without that record it was interrupted and can be continued.
 * 3. A file that changed after the plan was made is left alone.
 */
export async function restoreFiles(order: RestorationOrder): Promise<Map<string, string>> {
  const { journal, originals, kind, turn, steps, continues = false } = order;
  const owner = `${journal.session}.undo`;
  // A killed one may have left a file that is no longer needed; the session is this process's alone.
  for (const path of onePathPerDirectory(steps)) removeLeftovers(path, owner);
  for (const { current } of steps) {
    if (current !== null) originals.keep(current.version, current.bytes, Number.POSITIVE_INFINITY);
  }
  const files = steps.map(fileOf);
  const rest = continues ? ({ continues } as const) : {};
  journal.append(null, { type: 'files.restored', kind, turn, files, settles: true, ...rest });
  await journal.commit('synced');
  const failed = new Map<string, string>();
  for (const step of steps) {
    const reason = await attempt(step, originals, owner);
    if (reason !== null) failed.set(step.restoration.path, reason);
  }
  const left = Array.from(failed, ([path, reason]) => ({ path, reason }));
  journal.append(null, { type: 'files.settled', failed: left });
  await journal.commit('written');
  return failed;
}

function onePathPerDirectory(steps: readonly LoadedStep[]): Iterable<string> {
  return new Map(steps.map(({ restoration: { path } }) => [dirname(path), path])).values();
}

async function attempt(step: LoadedStep, originals: OriginalFiles, owner: string): Promise<string | null> {
  try {
    const outcome = await restoreFile(step, originals, owner);
    return outcome === 'done' ? null : 'it changed at this very moment';
  } catch (error) {
    return describeError(error);
  }
}

function fileOf({
  restoration: { path, target, mode: afterMode },
  current,
}: LoadedStep): EventOf<'files.restored'>['files'][number] {
  const mode = current === null ? null : Number(current.stats.mode & 0o7777n);
  return { path, before: current?.version ?? null, after: target, mode, afterMode };
}

/** Carries out one step of an undo. What changed since the plan was made is left alone: `overtaken`. */
async function restoreFile(
  { restoration: { path, target, mode }, current, action }: LoadedStep,
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
