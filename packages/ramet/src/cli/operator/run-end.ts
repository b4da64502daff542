/** What is left of a run of the operator when it is over: the table or the object, the report, the exit code. */
import { isTaskEnded, type OperatorState, tasksOf } from '../../operator/run/operator-state.ts';
import { writeReport } from '../../sdk/operator/write-report.ts';
import { runObject } from '../../views/operator/run-object.ts';
import { hasLanded, isRunWhole, resumeText } from '../../views/operator/run-summary.ts';
import { leftRun, runNotes, runTable } from '../../views/operator/run-table.ts';
import { type CommandIo, EXIT, exitCodeOf } from '../io.ts';
import type { OperateFormat } from './live-run.ts';

export interface EndedRun {
  readonly session: string;
  readonly state: OperatorState;
}

/** Prints the end of a run, writes its report, and returns the exit code. */
export function showEnd(ended: EndedRun, format: OperateFormat, io: CommandIo): number {
  const { session } = ended;
  // It may have had no time to say how its tasks end: this process ends now.
  const state = leftRun(ended.state);
  const now = Date.now();
  const file = writeReport({ session, state }, state.run?.report, io);
  if (format === 'text') {
    io.out(`${runTable(state, io.columns, now)}\n`);
    for (const line of runNotes(state, now, false)) io.out(`${line}\n`);
    if (file !== null) io.out(`report: ${file}\n`);
  } else io.out(`${JSON.stringify(runObject(state, { session, report: file, now }))}\n`);
  if (!isRunWhole(state)) io.note(`resume it with: ${resumeText(state)}`);
  return exitCodeOfRun(state, io);
}

/** As `-p`: 75 for a provider that limits or is away; an interruption only counts while something is left to do. */
function exitCodeOfRun(state: OperatorState, { signal }: CommandIo): number {
  if (isRunWhole(state)) return EXIT.done;
  const { cause } = state;
  if (cause === 'limit' || cause === 'provider') return EXIT.limited;
  const isOpen = tasksOf(state).some((task) => !isTaskEnded(task) || task.status === 'interrupted');
  const wasStopped = cause === 'interrupted' && (isOpen || !hasLanded(state));
  return wasStopped ? exitCodeOf({ status: 'interrupted', cause: String(signal.reason) }) : EXIT.failed;
}
