/** `ramet undo`: puts back the files that Write and Edit changed, and with `--redo` takes that back. */
import { UserMistake } from '../../schema/errors.ts';
import { type UndoOutcome, undo as undoTurns } from '../../sdk/calls/undo.ts';
import { jsonLine } from '../../views/json-spelling.ts';
import { commandsNote, continuationNote, endingNote, stepLine } from '../../views/undo-text.ts';
import { type CommandIo, callFrom, EXIT } from '../io.ts';

export interface UndoFlags {
  turn?: number;
  dryRun?: boolean;
  force?: boolean;
  redo?: boolean;
  json?: boolean;
}

export async function undo(session: string | undefined, flags: UndoFlags, io: CommandIo): Promise<number> {
  const { json, ...options } = flags;
  const outcome = await undoTurns(session, {
    ...options,
    ...callFrom(io),
    onPlan: (plan) => noteAny(continuationNote(plan), io),
  });
  if (json) {
    io.out(jsonLine(outcome));
    return outcome.refused === null && outcome.failed.length === 0 ? EXIT.done : EXIT.failed;
  }
  if (flags.dryRun) return tellPlan(outcome, io);
  for (const step of outcome.blocked) io.out(stepLine(step, io.cwd));
  if (outcome.refused !== null) throw new UserMistake('undo_refused', outcome.refused);
  return tellOutcome(outcome, io);
}

function tellPlan({ plan, damage }: UndoOutcome, io: CommandIo): number {
  for (const step of plan.steps) io.out(stepLine(step, io.cwd, 'would be '));
  noteAny(commandsNote(plan), io);
  noteAny(damage, io);
  return plan.steps.some(({ obstacle }) => obstacle !== null) ? EXIT.failed : EXIT.done;
}

function tellOutcome({ plan, steps, failed }: UndoOutcome, io: CommandIo): number {
  for (const step of steps) {
    const failure = failed.find(({ path }) => path === step.restoration.path);
    const obstacle = failure === undefined ? null : { reason: failure.reason, final: true };
    io.out(stepLine({ ...step, obstacle }, io.cwd));
  }
  noteAny(endingNote(plan, failed.length), io);
  noteAny(commandsNote(plan), io);
  return failed.length === 0 && steps.length === plan.steps.length ? EXIT.done : EXIT.failed;
}

function noteAny(line: string | null, io: CommandIo): void {
  if (line !== null) io.note(line);
}
