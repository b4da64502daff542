/** `ramet operate add|ask|pause|resume|skip|retry|start|approve|answer|status`: asks a run for something, from any terminal. */
import { UserMistake } from '../../schema/errors.ts';
import type { OperatorAction } from '../../schema/operator-events.ts';
import { approval, askOperator, currentRun } from '../../sdk/operator/control/ask-operator.ts';
import { lintTasks } from '../../sdk/operator/planning/lint-tasks.ts';
import { reportOf } from '../../sdk/operator/write-report.ts';
import { runObject } from '../../views/operator/run-object.ts';
import { isRunWhole, resumeText } from '../../views/operator/run-summary.ts';
import { leftRun, runNotes, runTable } from '../../views/operator/run-table.ts';
import { problemText } from '../../views/task-list.ts';
import { printable } from '../../views/text/format.ts';
import { type CommandIo, callFrom, EXIT } from '../io.ts';
import { isGoal } from '../operator/goal-argument.ts';
import { paintTable, styleFor } from '../output/painted.ts';
import type { PrintOptions } from '../print-options.ts';

export interface RequestFlags {
  session?: string;
}

/** Exits with 1 if it is refused. */
export async function ask(action: OperatorAction, { session }: RequestFlags, io: CommandIo): Promise<number> {
  const outcome = await askOperator(action, { ...callFrom(io), session });
  if (outcome.refused !== null) {
    // Without a word about it, the run that answers may be another than the one that is meant.
    io.note(session === undefined ? `${outcome.refused} (session ${outcome.session})` : outcome.refused);
    return EXIT.failed;
  }
  const next = `; no operator runs now, so this happens when the run is resumed: ramet operate --resume ${outcome.session}`;
  io.out(`${printable(doneText(action, outcome.session))}${outcome.isPending ? next : ''}\n`);
  return EXIT.done;
}

function doneText(action: OperatorAction, session: string): string {
  switch (action.kind) {
    case 'add':
      return `added: ${action.tasks.map(({ id }) => id).join(', ')}`;
    case 'pause':
      return `paused: nothing new starts, and what is under way finishes; continue with: ramet operate resume --session ${session}`;
    case 'resume':
      return 'resumed: tasks start again';
    case 'stop':
      return 'stopping: nothing new starts, and what is under way finishes';
    case 'skip':
      return `${action.task} is skipped`;
    case 'retry':
      return `${action.task} is tried again`;
    case 'start':
      return `${action.task} may start`;
    case 'approve':
      return `${action.task} is approved at commit ${action.commit.slice(0, 12)}`;
    case 'answer':
      return `answered ${action.question}: ${action.answer}`;
  }
}

/** Approves the commit that the task has now. */
export async function approve(task: string, flags: RequestFlags, io: CommandIo): Promise<number> {
  const action = await approval(task, { ...callFrom(io), session: flags.session });
  return ask(action, flags, io);
}

export interface AddFlags extends RequestFlags {
  bullets?: boolean;
  tag?: string;
  optional?: boolean;
}

/** A task in words, or those of a file that the run does not have yet. */
export async function add(file: string, flags: AddFlags, io: CommandIo): Promise<number> {
  const { bullets, tag, optional = false, session } = flags;
  const { idsOfRun, newTask, newTasks } = await import('../../sdk/operator/control/new-tasks.ts');
  if (file.trim() === '')
    throw new UserMistake(
      'no_task',
      'there is nothing to add: ramet operate add "what to do", or ramet operate add FILE',
    );
  if (isGoal(file, io.cwd)) {
    const task = newTask(file, { session, ...callFrom(io) });
    return ask({ kind: 'add', tasks: [task] }, flags, io);
  }
  const read = { ...(bullets !== undefined && { bullets }), ...(tag !== undefined && { tag }) };
  const elsewhere = idsOfRun(file, { session, ...callFrom(io) });
  const list = await lintTasks(file, { ...read, ...callFrom(io), elsewhere });
  if (list.problems.some(({ level }) => level === 'error')) {
    io.out(problemText(list.problems));
    return EXIT.failed;
  }
  const tasks = await newTasks(list, { file, optional, session, ...callFrom(io) });
  if (tasks.length === 0)
    throw new UserMistake('nothing_new', `the run has all open tasks of ${file} already`);
  return ask({ kind: 'add', tasks }, flags, io);
}

export async function status(flags: RequestFlags & { json?: boolean }, io: CommandIo): Promise<void> {
  const { place, state: last, writer } = await currentRun({ ...callFrom(io), session: flags.session });
  const state = writer === null ? leftRun(last) : last;
  const now = Date.now();
  if (flags.json) {
    const { session } = place;
    const object = runObject(state, { session, report: reportOf({ session, state }, io), now });
    io.out(`${JSON.stringify({ ...object, running: writer !== null })}\n`);
    return;
  }
  const runs = writer === null ? 'nobody runs it now' : `it runs in process ${writer.pid}`;
  const head = `session ${place.session}: ${runs}\n`;
  io.out(`${head}${paintTable(runTable(state, io.columns, now), styleFor(io))}\n`);
  for (const line of runNotes(state, now, writer !== null)) io.out(`${line}\n`);
  if (writer === null && !isRunWhole(state)) io.out(`resume it with: ${resumeText(state)}\n`);
}

export interface AskFlags
  extends RequestFlags,
    Pick<PrintOptions, 'outputFormat' | 'model' | 'maxTurns' | 'maxBudgetUsd' | 'permissionMode'> {}

/** A model looks at the run, and steers it as far as it is asked to (OP-2). */
export async function askModel(
  prompt: string,
  { session, ...options }: AskFlags,
  io: CommandIo,
): Promise<number> {
  if (prompt.trim() === '')
    throw new UserMistake('no_prompt', 'the question is empty: ramet operate ask "how is the run doing?"');
  const { carryOut } = await import('./print.ts');
  return carryOut(prompt, { ...options, operatorTools: session ?? true }, undefined, io);
}
