/**
 * What undo, or taking it back, would do to each file, found out before anything is touched. A file that is no
 * longer what the session left is an obstacle: somebody's work would be lost.
 */
import type { BigIntStats } from 'node:fs';
import type {
  FileHistory,
  RecordedChange,
  UndoneChanges,
  UnfinishedRestoration,
} from '../journal/projections/file-history.ts';
import { describeError, systemCode } from '../schema/errors.ts';
import { realPath } from '../system/landing-path.ts';
import { type LoadedFile, loadFile } from '../system/regular-file.ts';
import type { OriginalFiles } from './original-files.ts';

/** One file's way back. Null versions stand for no file. */
export interface Restoration {
  path: string;
  target: string | null;
  /** For a file that must be created; null when unknown. */
  mode: number | null;
  /** What the session left there. */
  expected: string | null;
  /** The turns that changed it. */
  turns: number[];
  /** Between two of them somebody else changed it too. */
  interim: boolean;
}

export interface RestorationStep {
  restoration: Restoration;
  action: 'restore' | 'recreate' | 'remove' | 'none';
  current: LoadedFile | null;
  /** Why it must not be done; `final` when no force helps. */
  obstacle: { reason: string; final: boolean } | null;
}

/** Everything from `turn` on. */
export function restorationsFrom({ changes }: FileHistory, turn: number): Restoration[] {
  const byPath = new Map<string, RecordedChange[]>();
  for (const change of changes) {
    if (change.turn >= turn) byPath.set(change.path, [...(byPath.get(change.path) ?? []), change]);
  }
  return Array.from(byPath, ([path, own]) => ({
    path,
    target: own[0]?.before ?? null,
    mode: own[0]?.mode ?? null,
    expected: own.at(-1)?.after ?? null,
    turns: [...new Set(own.map((change) => change.turn))],
    interim: own.some((change, index) => index > 0 && change.before !== own[index - 1]?.after),
  }));
}

/** The way forward again: to what an undo replaced. */
export function restorationsOf({ restored, changes }: UndoneChanges): Restoration[] {
  return restored.files.map(({ path, before, after, mode }) => ({
    path,
    target: before,
    mode,
    expected: after,
    turns: [...new Set(changes.filter((change) => change.path === path).map(({ turn }) => turn))],
    interim: false,
  }));
}

/** The rest of an undo or redo that was interrupted: a file that it had put back is found as it should be. */
export function restorationsLeft({ restored, left }: UnfinishedRestoration): Restoration[] {
  return restored.files
    .filter(({ path }) => left.has(path))
    .map(({ path, before, after, afterMode = null }) => ({
      path,
      target: after,
      mode: afterMode,
      expected: before,
      turns: [],
      interim: false,
    }));
}

export interface RestorationSources {
  originals: OriginalFiles;
  /** Another session that left a file in this version, if one is known to have. */
  writerOf(file: { path: string; version: string }): string | null;
}

export async function planRestoration(
  restoration: Restoration,
  { originals, writerOf }: RestorationSources,
): Promise<RestorationStep> {
  const { path, target } = restoration;
  const step = { restoration, current: null, action: 'none' } as const;
  let current: LoadedFile | null;
  try {
    // The place that was written must still be a place of its own: a link put there since leads elsewhere.
    if (realPath(path) !== path) return { ...step, obstacle: final('a symbolic link now leads elsewhere') };
    current = await loadCurrent(path);
  } catch (error) {
    return { ...step, obstacle: final(describeError(error)) };
  }
  if (current?.version === target || (current === null && target === null))
    return { ...step, current, obstacle: null };
  const action = target === null ? 'remove' : current === null ? 'recreate' : 'restore';
  if (target !== null && !originals.has(target))
    return {
      ...step,
      current,
      obstacle: final('its original was not kept (it had over 5 MB, or the disk was full)'),
    };
  return { restoration, action, current, obstacle: conflict(restoration, current, writerOf) };
}

function conflict(
  { path, expected, interim, turns }: Restoration,
  current: LoadedFile | null,
  writerOf: RestorationSources['writerOf'],
): RestorationStep['obstacle'] {
  // A file that is gone holds nothing that could be lost.
  if (current === null) return null;
  if (current.version !== expected) {
    const turn = turns.at(-1);
    const when = turn === undefined ? 'changed since then' : `changed since turn ${turn} wrote it`;
    const since = expected === null ? 'there is a file again' : when;
    const writer = writerOf({ path, version: current.version });
    const who = writer === null ? 'outside Ramet' : `by session ${writer}`;
    return { reason: `${since}, at ${modified(current.stats)} ${who}`, final: false };
  }
  return interim
    ? { reason: `changed by somebody else too, between turns ${turns[0]} and ${turns.at(-1)}`, final: false }
    : null;
}

function modified(stats: BigIntStats): string {
  return new Date(Number(stats.mtimeMs)).toISOString();
}

function final(reason: string): { reason: string; final: true } {
  return { reason, final: true };
}

async function loadCurrent(path: string): Promise<LoadedFile | null> {
  try {
    return await loadFile(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return null;
    throw error;
  }
}
