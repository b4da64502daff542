/** Puts back the files that Write and Edit changed, and takes that back. */
import { join } from 'node:path';
import type {
  LoadedPlan,
  LoadedStep,
  RestorationSources,
  RestorationStep,
  UndoPlan,
} from '../../files/undo.ts';
import { createOriginalFiles, planRedo, planUndo, restoreFiles } from '../../files/undo.ts';
import { findFileWriter } from '../../journal/find-file-writer.ts';
import type { Journal, JournalReader } from '../../journal/journal.ts';
import { fileHistoryOf } from '../../journal/projections/file-history.ts';
import { openReader, resumeSession } from '../../journal/sessions.ts';
import type { SessionId } from '../../schema/ids.ts';
import { chooseSession, damageOf, tellDamage } from '../../views/session-view.ts';
import { undoRefusal } from '../../views/undo-text.ts';
import { findPlace } from '../place.ts';
import { type CallOptions, callerOf } from './caller.ts';

export interface UndoOptions extends CallOptions {
  /** The first turn to undo; when absent the last that changed anything. */
  turn?: number;
  /** Only plan. */
  dryRun?: boolean;
  /** Also over what others changed since, which is kept for a redo. */
  force?: boolean;
  /** Take the last undo back. */
  redo?: boolean;
  /** Hears the plan before anything is touched. */
  onPlan?(plan: UndoPlan): void;
}

export interface UndoOutcome {
  plan: UndoPlan;
  /** What blocks it; a dry run does not tell them apart. */
  blocked: readonly RestorationStep[];
  /** Why nothing was touched; null when it was, and after a dry run. */
  refused: string | null;
  /** What was put back, but for `failed`. */
  steps: readonly RestorationStep[];
  /** What could not be put back, and why. */
  failed: readonly { path: string; reason: string }[];
  /** What could not be read of the journal; null for nothing. */
  damage: string | null;
}

type SessionSources = RestorationSources & { originals: ReturnType<typeof createOriginalFiles> };

/** `wanted` is a session's id or the beginning of one; the latest session of this repository when absent. */
export async function undo(wanted?: string, options: UndoOptions = {}): Promise<UndoOutcome> {
  const caller = callerOf(options);
  const { project } = findPlace(caller);
  const entry = chooseSession(wanted, project);
  const place = { project, session: entry.session };
  if (options.dryRun) {
    const reader = openReader(place);
    try {
      const plan = await planOf(reader, sourcesOf(place), options);
      return { ...untouched(plan), damage: damageOf({ entry, reader }) };
    } catch (error) {
      // Why it cannot be planned may be what cannot be read.
      tellDamage({ entry, reader }, caller);
      throw error;
    } finally {
      reader.close();
    }
  }
  // Taken for writing before the plan is made: nobody may resume the session in between.
  const { journal, reader } = await resumeSession(place);
  try {
    return await undoIn({ ...place, journal, reader }, options);
  } finally {
    reader.close();
    await journal.close();
  }
}

export interface WrittenSession {
  readonly project: string;
  readonly session: SessionId;
  readonly journal: Journal;
  readonly reader: JournalReader;
}

/** In a session that the caller writes. `reader` has all that was recorded. */
export async function undoIn(
  { journal, reader, ...place }: WrittenSession,
  options: UndoOptions,
): Promise<UndoOutcome> {
  const sources = sourcesOf(place);
  const plan = await planOf(reader, sources, options);
  const { steps, blocked, isRefused } = passable(plan, options.force ?? false);
  if (isRefused)
    return { ...untouched(plan), blocked: blocked.map(withoutFile), refused: undoRefusal(plan, blocked) };
  const { kind, turn, continues } = plan;
  const { originals } = sources;
  const failed = await restoreFiles({ journal, originals, kind, turn, steps, continues });
  return {
    ...{ plan: withoutFiles(plan), blocked: blocked.map(withoutFile), refused: null },
    ...{ steps: steps.map(withoutFile), damage: null },
    failed: Array.from(failed, ([path, reason]) => ({ path, reason })),
  };
}

function sourcesOf({ project, session }: { project: string; session: SessionId }): SessionSources {
  return {
    originals: createOriginalFiles(join(project, session)),
    writerOf: (file) => findFileWriter(project, file, session),
  };
}

async function planOf(
  reader: JournalReader,
  sources: RestorationSources,
  { redo, turn, onPlan }: UndoOptions,
): Promise<LoadedPlan> {
  const history = fileHistoryOf(reader.events());
  const plan = await (redo ? planRedo(history, sources) : planUndo(history, sources, turn));
  onPlan?.(withoutFiles(plan));
  return plan;
}

function untouched(plan: LoadedPlan): UndoOutcome {
  return { plan: withoutFiles(plan), blocked: [], refused: null, steps: [], failed: [], damage: null };
}

/** What callers get can be written as JSON: no contents of files, and no numbers that JSON does not have. */
function withoutFiles(plan: LoadedPlan): UndoPlan {
  return { ...plan, steps: plan.steps.map(withoutFile) };
}

function withoutFile({ restoration, action, obstacle }: LoadedStep): RestorationStep {
  return { restoration, action, obstacle };
}

/** The steps to take; refuses the whole when one of them would destroy someone's work. */
function passable(
  { steps }: LoadedPlan,
  force: boolean,
): { steps: LoadedStep[]; blocked: LoadedStep[]; isRefused: boolean } {
  const blocked = steps.filter(({ obstacle }) => obstacle !== null && (obstacle.final || !force));
  const free = steps.filter((step) => !blocked.includes(step));
  return { steps: free, blocked, isRefused: blocked.length > 0 && !(force && free.length > 0) };
}
