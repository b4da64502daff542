/**
 * Carries out what `restoration.ts` planned.
 *
 * Invariants
 * 1. What is replaced or removed is kept first and recorded second; only then is a file touched. So every undo can
 *    be taken back, also one that was killed half-way.
 * 2. A file that changed after the plan was made is left alone.
 */
import type { Journal } from '../journal/journal.ts';
import { describeError } from '../schema/errors.ts';
import type { EventOf } from '../schema/events.ts';
import type { OriginalFiles } from './original-files.ts';
import type { RestorationStep } from './restoration.ts';
import { restoreFile } from './restore-file.ts';

export interface RestorationOrder {
  journal: Journal;
  originals: OriginalFiles;
  kind: EventOf<'files.restored'>['kind'];
  turn: number;
  steps: readonly RestorationStep[];
}

/** The path of every file that could not be put back, with the reason. */
export async function restoreFiles(order: RestorationOrder): Promise<Map<string, string>> {
  const { journal, originals, kind, turn, steps } = order;
  for (const { current } of steps) {
    if (current !== null) originals.keep(current.version, current.bytes, Number.POSITIVE_INFINITY);
  }
  journal.append(null, { type: 'files.restored', kind, turn, files: steps.map(fileOf) });
  await journal.commit('synced');
  const failed = new Map<string, string>();
  for (const step of steps) {
    const reason = await attempt(step, originals, `${journal.session}.undo`);
    if (reason !== null) failed.set(step.restoration.path, reason);
  }
  return failed;
}

async function attempt(
  step: RestorationStep,
  originals: OriginalFiles,
  owner: string,
): Promise<string | null> {
  try {
    const outcome = await restoreFile(step, originals, owner);
    return outcome === 'overtaken' ? 'it changed at this very moment' : null;
  } catch (error) {
    return describeError(error);
  }
}

function fileOf({
  restoration: { path, target },
  current,
}: RestorationStep): EventOf<'files.restored'>['files'][number] {
  const mode = current === null ? null : Number(current.stats.mode & 0o7777n);
  return { path, before: current?.version ?? null, after: target, mode };
}
