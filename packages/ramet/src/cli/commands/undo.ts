/** `ramet undo`: puts back the files that Write and Edit changed, and with `--redo` takes that back. */
import { join, relative } from 'node:path';
import { type FileHistory, fileHistoryOf } from '../../journal/projections/file-history.ts';
import { openReader, resumeSession } from '../../journal/sessions.ts';
import { UserMistake } from '../../schema/errors.ts';
import { createOriginalFiles, type OriginalFiles } from '../../workspace/original-files.ts';
import {
  planRestoration,
  type Restoration,
  type RestorationStep,
  restorationsFrom,
  restorationsOf,
} from '../../workspace/restoration.ts';
import { restoreFiles } from '../../workspace/restore-files.ts';
import { EXIT } from '../exit-code.ts';
import { printable } from '../format.ts';
import type { CommandIo } from '../io.ts';
import { chooseSession } from '../session-view.ts';

export interface UndoOptions {
  turn?: number;
  dryRun?: boolean;
  force?: boolean;
  redo?: boolean;
}

interface UndoPlan {
  kind: 'undo' | 'redo';
  turn: number;
  steps: RestorationStep[];
  /** How many Bash calls ran in the turns concerned. */
  commands: number;
}

export async function undo(wanted: string | undefined, options: UndoOptions, io: CommandIo): Promise<number> {
  const { project, entry } = chooseSession(wanted, io);
  const place = { project, session: entry.session };
  const originals = createOriginalFiles(join(project, entry.session));
  if (options.dryRun) {
    const reader = openReader(place);
    try {
      const plan = await planOf(fileHistoryOf(reader.events()), options, originals);
      for (const step of plan.steps) io.out(lineOf(step, io.cwd, 'would be '));
      tellOfCommands(plan, io);
      return plan.steps.some(({ obstacle }) => obstacle !== null) ? EXIT.failed : EXIT.done;
    } finally {
      reader.close();
    }
  }
  const { journal, reader } = await resumeSession(place);
  try {
    const plan = await planOf(fileHistoryOf(reader.events()), options, originals);
    const steps = passable(plan, options, io);
    const failed = await restoreFiles({ journal, originals, kind: plan.kind, turn: plan.turn, steps });
    return tellOutcome(plan, steps, failed, io);
  } finally {
    reader.close();
    await journal.close();
  }
}

async function planOf(
  history: FileHistory,
  { turn, redo }: UndoOptions,
  originals: OriginalFiles,
): Promise<UndoPlan> {
  const [kind, from, restorations] = redo
    ? (['redo', ...lastUndone(history)] as const)
    : (['undo', ...lastDone(history, turn)] as const);
  const steps = await Promise.all(restorations.map((one) => planRestoration(one, originals)));
  const commands = history.commands.filter((at) => at >= from).length;
  return { kind, turn: from, steps, commands: redo ? 0 : commands };
}

function lastUndone({ undone }: FileHistory): [turn: number, Restoration[]] {
  const last = undone.at(-1);
  if (last !== undefined) return [last.restored.turn, restorationsOf(last)];
  throw new UserMistake(
    'nothing_to_redo',
    'there is no undo to take back: none was made since the last change',
  );
}

/** From the given turn on, or all that the last prompt to change anything changed. */
function lastDone(history: FileHistory, wanted: number | undefined): [turn: number, Restoration[]] {
  const { changes, turn: last } = history;
  const prompt = changes.at(-1)?.prompt;
  const turn = wanted ?? changes.find((change) => change.prompt === prompt)?.turn;
  const restorations = turn === undefined ? [] : restorationsFrom(history, turn);
  if (turn !== undefined && restorations.length > 0) return [turn, restorations];
  const where = wanted === undefined ? 'in this session' : `from turn ${wanted} on (it has ${last})`;
  const bash =
    history.commands.length > 0 ? '; what Bash changed is not known here, git diff may show it' : '';
  throw new UserMistake('nothing_to_undo', `nothing to undo: Write and Edit changed no file ${where}${bash}`);
}

/** The steps to take; refuses the whole when one of them would destroy somebody's work. */
function passable(
  { kind, steps }: UndoPlan,
  { force = false }: UndoOptions,
  io: CommandIo,
): RestorationStep[] {
  const blocked = steps.filter(({ obstacle }) => obstacle !== null && (obstacle.final || !force));
  for (const step of blocked) io.out(lineOf(step, io.cwd, ''));
  const free = steps.filter((step) => !blocked.includes(step));
  if (blocked.length === 0 || (force && free.length > 0)) return free;
  const advice = blocked.every(({ obstacle }) => obstacle?.final)
    ? 'nothing can be done about that here'
    : 'look at it, or use --force, which keeps what is there now for --redo';
  throw new UserMistake(
    'undo_refused',
    `${kind} refused, nothing was touched: ${blocked.length} of ${steps.length} files stand in the way; ${advice}`,
  );
}

function tellOutcome(
  plan: UndoPlan,
  steps: readonly RestorationStep[],
  failed: ReadonlyMap<string, string>,
  io: CommandIo,
): number {
  for (const step of steps) {
    const reason = failed.get(step.restoration.path);
    io.out(
      lineOf(
        reason === undefined ? { ...step, obstacle: null } : { ...step, obstacle: { reason, final: true } },
        io.cwd,
        '',
      ),
    );
  }
  if (plan.kind === 'undo')
    io.note(`files are as before turn ${plan.turn}; ramet undo --redo takes this back`);
  tellOfCommands(plan, io);
  return failed.size === 0 && steps.length === plan.steps.length ? EXIT.done : EXIT.failed;
}

function tellOfCommands({ commands }: UndoPlan, io: CommandIo): void {
  if (commands === 0) return;
  const calls = commands === 1 ? 'one Bash call' : `${commands} Bash calls`;
  io.note(`${calls} ran in these turns; what Bash changed is not put back`);
}

const DONE = { restore: 'restored', recreate: 'recreated', remove: 'removed', none: 'already as it was' };

function lineOf({ restoration, action, obstacle }: RestorationStep, cwd: string, mood: string): string {
  const { path, turns } = restoration;
  const inside = relative(cwd, path);
  const shown = printable(inside.startsWith('..') ? path : inside);
  const when = turns.length === 0 ? '' : ` (turn ${turns.join(', ')})`;
  if (obstacle !== null) return `not put back  ${shown}${when}: ${obstacle.reason}\n`;
  return `${action === 'none' ? '' : mood}${DONE[action]}  ${shown}${when}\n`;
}
