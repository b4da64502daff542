/** `ramet undo`: puts back the files that Write and Edit changed, and with `--redo` takes that back. */
import { UserMistake } from '../../schema/errors.ts';
import { type UndoOutcome, undo as undoTurns } from '../../sdk/calls/undo.ts';
import { jsonLine } from '../../views/json-spelling.ts';
import { commandsNote, continuationNote, endingNote, stepLine } from '../../views/undo-text.ts';
import { type CommandIo, callFrom, EXIT } from '../io.ts';

const NOTHING = ['nothing_to_undo', 'nothing_to_redo'];

export interface UndoFlags {
  turn?: number;
  dryRun?: boolean;
  force?: boolean;
  redo?: boolean;
  json?: boolean;
}

export async function undo(session: string | undefined, flags: UndoFlags, io: CommandIo): Promise<number> {
  const { json, ...options } = flags;
  const ask = {
    ...options,
    ...callFrom(io),
    onPlan: (plan: UndoOutcome['plan']) => noteAny(continuationNote(plan), io),
  };
  if (json) {
    const outcome = await undoTurns(session, ask).catch(nothingToDo);
    io.out(jsonLine(outcome));
    if (outcome.plan === null) return EXIT.wrongUse;
    return outcome.refused === null && outcome.failed.length === 0 ? EXIT.done : EXIT.failed;
  }
  const outcome = await undoTurns(session, ask).catch(sayWhere);
  if (flags.dryRun) return tellPlan(outcome, io);
  for (const step of outcome.blocked) io.out(stepLine(step, io.cwd));
  if (outcome.refused !== null) throw new UserMistake('undo_refused', outcome.refused);
  return tellOutcome(outcome, io);
}

/** A conversation that is open in a terminal can do it itself. */
function sayWhere(error: unknown): never {
  if (!(error instanceof UserMistake) || error.code !== 'session_in_use') throw error;
  const message = `${error.message}; if it is open in a terminal, write /undo there`;
  throw new UserMistake(error.code, message, { cause: error });
}

/** That there is nothing to undo is an answer too: programs get the same fields, and the exit code that people get. */
function nothingToDo(
  error: unknown,
): { plan: null; refused: string } & Omit<UndoOutcome, 'plan' | 'refused'> {
  if (!(error instanceof UserMistake) || !NOTHING.includes(error.code)) throw error;
  return { plan: null, blocked: [], refused: error.message, steps: [], failed: [], damage: null };
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
