/**
 * What undo, or taking it back, would do to each file, found out before anything is touched. A file that is no
 * longer what the session left is an obstacle: someone's work would be lost.
 */
import type { BigIntStats } from 'node:fs';
import type {
  FileHistory,
  RecordedChange,
  UndoneChanges,
  UnfinishedRestoration,
} from '../journal/projections/file-history.ts';
import { describeError, UserMistake } from '../schema/errors.ts';
import { realPath } from '../system/landing-path.ts';
import { type LoadedFile, loadFileIfThere } from '../system/regular-file.ts';
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
  /** Between two of them another writer changed it too. */
  interim: boolean;
}

interface RestorationObstacle {
  reason: string;
  final: boolean;
  /** When someone else changed the file, in UTC, as `reason` says it. */
  changedAt?: string;
}

export interface RestorationStep {
  restoration: Restoration;
  action: 'restore' | 'recreate' | 'remove' | 'none';
  /** Why it must not be done; `final` when no force helps. */
  obstacle: RestorationObstacle | null;
}

/** With what is there now, for the code that carries it out. */
export interface LoadedStep extends RestorationStep {
  current: LoadedFile | null;
}

/** Everything from `turn` on. */
function restorationsFrom({ changes }: FileHistory, turn: number): Restoration[] {
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
function restorationsOf({ restored, changes }: UndoneChanges): Restoration[] {
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
function restorationsLeft({ restored, left }: UnfinishedRestoration): Restoration[] {
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
): Promise<LoadedStep> {
  const { path, target } = restoration;
  const step = { restoration, current: null, action: 'none' } as const;
  let current: LoadedFile | null;
  try {
    // The place that was written must still be a place of its own: a link put there since leads elsewhere.
    if (realPath(path) !== path) return { ...step, obstacle: final('a symbolic link now leads elsewhere') };
    current = await loadFileIfThere(path);
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
    const changedAt = modified(current.stats);
    return { reason: `${since}, at ${changedAt} ${who}`, final: false, changedAt };
  }
  return interim
    ? { reason: `also changed by someone else, between turns ${turns[0]} and ${turns.at(-1)}`, final: false }
    : null;
}

function modified(stats: BigIntStats): string {
  return new Date(Number(stats.mtimeMs)).toISOString();
}

function final(reason: string): { reason: string; final: true } {
  return { reason, final: true };
}

/** Which turns an undo is about, and what it would do: the history of a session and what is on disk, no more. */
export interface UndoPlan {
  kind: 'undo' | 'redo';
  /** The first turn concerned. */
  turn: number;
  steps: RestorationStep[];
  /** The rest of one that was interrupted. */
  continues: boolean;
  /** How many Bash calls ran in the turns concerned: what they changed nobody knows. */
  commands: number;
}

export interface LoadedPlan extends UndoPlan {
  steps: LoadedStep[];
}

/**
 * `wanted` is a turn; without one it is the rest of an undo that was interrupted, else all that the last prompt to
 * change anything changed. A redo that was interrupted is taken back whole. What was interrupted comes before any other
 * turn: a second one would forget what is left of it.
 */
export async function planUndo(
  history: FileHistory,
  sources: RestorationSources,
  wanted?: number,
): Promise<LoadedPlan> {
  const { changes, commands, unfinished } = history;
  const open = unfinished?.restored;
  const isOpen = open?.kind === 'undo' && (wanted === undefined || wanted === open.turn);
  if (unfinished !== null && isOpen) return planRest(unfinished, sources);
  if (open !== undefined && wanted !== undefined) throw unfinishedFirst(open);
  const prompt = changes.at(-1)?.prompt;
  const last = open?.turn ?? changes.find((change) => change.prompt === prompt)?.turn;
  const turn = wanted ?? last;
  const restorations = turn === undefined ? [] : restorationsFrom(history, turn);
  if (turn === undefined || restorations.length === 0) throw nothingToUndo(history, wanted);
  return {
    kind: 'undo',
    turn,
    steps: await planAll(restorations, sources),
    continues: false,
    commands: commands.filter((at) => at >= turn).length,
  };
}

/** Takes the last undo back, also one that was interrupted; or the rest of a redo that was. */
export async function planRedo(
  { undone, unfinished }: FileHistory,
  sources: RestorationSources,
): Promise<LoadedPlan> {
  if (unfinished?.restored.kind === 'redo') return planRest(unfinished, sources);
  const last = undone.at(-1);
  if (last !== undefined) {
    const steps = await planAll(restorationsOf(last), sources);
    return { kind: 'redo', turn: last.restored.turn, steps, continues: false, commands: 0 };
  }
  throw new UserMistake(
    'nothing_to_redo',
    'there is no undo to take back: none was made since the last change',
  );
}

async function planRest(unfinished: UnfinishedRestoration, sources: RestorationSources): Promise<LoadedPlan> {
  const { kind, turn } = unfinished.restored;
  const steps = await planAll(restorationsLeft(unfinished), sources);
  return { kind, turn, steps, continues: true, commands: 0 };
}

function planAll(restorations: readonly Restoration[], sources: RestorationSources): Promise<LoadedStep[]> {
  return Promise.all(restorations.map((one) => planRestoration(one, sources)));
}

function unfinishedFirst({ kind, turn }: UnfinishedRestoration['restored']): UserMistake {
  const [rest, back] =
    kind === 'undo' ? ['ramet undo', 'ramet undo --redo'] : ['ramet undo --redo', 'ramet undo'];
  return new UserMistake(
    'undo_unfinished',
    `the ${kind} of turn ${turn} was interrupted: continue it first with ${rest}, or take it back with ${back}`,
  );
}

function nothingToUndo(
  { turn, commands, changes, undone }: FileHistory,
  wanted: number | undefined,
): UserMistake {
  if (changes.length === 0 && undone.length > 0)
    return new UserMistake(
      'nothing_to_undo',
      'nothing to undo: all that Write and Edit changed in this session is undone already; --redo takes the last undo back',
    );
  const where = wanted === undefined ? 'in this session' : `from turn ${wanted} on (it has ${turn})`;
  const bash = commands.length > 0 ? '; what Bash changed is not known here, git diff may show it' : '';
  return new UserMistake(
    'nothing_to_undo',
    `nothing to undo: Write and Edit changed no file ${where}${bash}`,
  );
}
