/** `ramet undo`: puts back the files that Write and Edit changed, and with `--redo` takes that back. */

import { join } from 'node:path';
import { findFileWriter } from '../../journal/find-file-writer.ts';
import type { JournalReader } from '../../journal/journal.ts';
import { fileHistoryOf } from '../../journal/projections/file-history.ts';
import { openReader, resumeSession } from '../../journal/sessions.ts';
import { UserMistake } from '../../schema/errors.ts';
import { findPlace } from '../../sdk/place.ts';
import { pathInside } from '../../system/path-inside.ts';
import { chooseSession, tellDamage } from '../../views/session-view.ts';
import { printable } from '../../views/text/format.ts';
import { createOriginalFiles } from '../../workspace/original-files.ts';
import type { RestorationSources, RestorationStep } from '../../workspace/restoration.ts';
import { restoreFiles } from '../../workspace/restore-files.ts';
import { planRedo, planUndo, type UndoPlan } from '../../workspace/undo-plan.ts';
import { EXIT } from '../exit-code.ts';
import type { CommandIo } from '../io.ts';

export interface UndoOptions {
  turn?: number;
  dryRun?: boolean;
  force?: boolean;
  redo?: boolean;
}

export async function undo(wanted: string | undefined, options: UndoOptions, io: CommandIo): Promise<number> {
  const { project } = findPlace(io);
  const entry = chooseSession(wanted, project);
  const place = { project, session: entry.session };
  const originals = createOriginalFiles(join(project, entry.session));
  const sources: RestorationSources = {
    originals,
    writerOf: (file) => findFileWriter(project, file, entry.session),
  };
  if (options.dryRun) {
    const reader = openReader(place);
    try {
      const plan = await planOf(reader, sources, options);
      tellContinuation(plan, io);
      return tellPlan(plan, io);
    } finally {
      tellDamage({ entry, reader }, io);
      reader.close();
    }
  }
  // Taken for writing before the plan is made: nobody may go on with the session in between.
  const { journal, reader } = await resumeSession(place);
  try {
    const plan = await planOf(reader, sources, options);
    tellContinuation(plan, io);
    const steps = passable(plan, options, io);
    const { kind, turn, continues } = plan;
    const failed = await restoreFiles({ journal, originals, kind, turn, steps, continues });
    return tellOutcome(plan, steps, failed, io);
  } finally {
    reader.close();
    await journal.close();
  }
}

function planOf(reader: JournalReader, sources: RestorationSources, options: UndoOptions): Promise<UndoPlan> {
  const history = fileHistoryOf(reader.events());
  return options.redo ? planRedo(history, sources) : planUndo(history, sources, options.turn);
}

/** The steps to take; refuses the whole when one of them would destroy somebody's work. */
function passable(
  { kind, steps }: UndoPlan,
  { force = false }: UndoOptions,
  io: CommandIo,
): RestorationStep[] {
  const blocked = steps.filter(({ obstacle }) => obstacle !== null && (obstacle.final || !force));
  for (const step of blocked) io.out(lineOf(step, io.cwd));
  const free = steps.filter((step) => !blocked.includes(step));
  if (blocked.length === 0 || (force && free.length > 0)) return free;
  const advice = blocked.every(({ obstacle }) => obstacle?.final)
    ? free.length === 0
      ? 'nothing can be done about that here'
      : '--force puts back the others'
    : 'look at it, or use --force, which keeps what is there now for --redo';
  throw new UserMistake(
    'undo_refused',
    `${kind} refused, nothing was touched: ${blocked.length} of ${steps.length} files stand in the way; ${advice}`,
  );
}

function tellContinuation({ kind, turn, steps, continues }: UndoPlan, io: CommandIo): void {
  if (!continues) return;
  const left = steps.filter(({ action, obstacle }) => action !== 'none' || obstacle !== null).length;
  const [back, name] = kind === 'undo' ? ['ramet undo --redo', 'undo'] : ['ramet undo', 'redo'];
  io.note(
    `the ${name} of turn ${turn} was interrupted: continuing it, ${left} of ${steps.length} files are left (${back} takes it back instead)`,
  );
}

function tellPlan(plan: UndoPlan, io: CommandIo): number {
  for (const step of plan.steps) io.out(lineOf(step, io.cwd, 'would be '));
  tellOfCommands(plan, io);
  return plan.steps.some(({ obstacle }) => obstacle !== null) ? EXIT.failed : EXIT.done;
}

function tellOutcome(
  plan: UndoPlan,
  steps: readonly RestorationStep[],
  failed: ReadonlyMap<string, string>,
  io: CommandIo,
): number {
  for (const step of steps) {
    const reason = failed.get(step.restoration.path);
    const obstacle = reason === undefined ? null : { reason, final: true };
    io.out(lineOf({ ...step, obstacle }, io.cwd));
  }
  if (failed.size > 0) io.note(failureLine(plan, failed.size));
  else if (plan.kind === 'undo')
    io.note(`files are as before turn ${plan.turn}; ramet undo --redo takes this back`);
  tellOfCommands(plan, io);
  return failed.size === 0 && steps.length === plan.steps.length ? EXIT.done : EXIT.failed;
}

function failureLine({ kind }: UndoPlan, failed: number): string {
  const again = kind === 'undo' ? 'ramet undo' : 'ramet undo --redo';
  return `${failed === 1 ? 'one file was' : `${failed} files were`} not put back: ${again} tries again`;
}

function tellOfCommands({ commands }: UndoPlan, io: CommandIo): void {
  if (commands === 0) return;
  const calls = commands === 1 ? 'one Bash call' : `${commands} Bash calls`;
  io.note(`${calls} ran in these turns; what Bash changed is not put back`);
}

const DONE = { restore: 'restored', recreate: 'recreated', remove: 'removed', none: 'already as it was' };

function lineOf({ restoration, action, obstacle }: RestorationStep, cwd: string, mood = ''): string {
  const { path, turns } = restoration;
  const shown = printable(pathInside(path, cwd) ?? path);
  const when = turns.length === 0 ? '' : ` (turn ${turns.join(', ')})`;
  if (obstacle !== null) return `not put back  ${shown}${when}: ${obstacle.reason}\n`;
  return `${action === 'none' ? '' : mood}${DONE[action]}  ${shown}${when}\n`;
}
