/**
 * A check that fails before any task has begun. It is found while the first agents work, and stops new ones: most of what
 * they do could not pass. One of those under way may be the one that repairs it, so they continue. A resumed run starts
 * all tasks: a person has seen the failure by then.
 */
import type { OperatorRun, RecordedCheck } from '../../schema/operator-events.ts';
import type { ReadyQueue } from '../schedule/ready-queue.ts';
import { checkOf } from './decisions.ts';
import { resumeCommand } from './operate-command.ts';
import { type OperatorState, type TaskState, taskOf, tasksOf } from './operator-state.ts';
import type { OperatorPorts } from './ports.ts';

/** Whether it is worth knowing: later, what is merged has passed. */
export function isBaseUnknown({ run, integrated, resumed, baseCheck }: OperatorState): boolean {
  return run !== null && run.check !== null && integrated === null && resumed === 0 && baseCheck === null;
}

/** Never rejects: if it cannot be known, the first merge will tell. */
export async function checkBase(
  run: OperatorRun,
  ports: Pick<OperatorPorts, 'checkBase'>,
  signal: AbortSignal,
): Promise<RecordedCheck | null> {
  const check = await ports.checkBase?.(run, signal).catch(() => null);
  return signal.aborted ? null : (check ?? null);
}

/** Whether a task that has not begun must wait until another one has repaired the check. */
function waitsForRepair(state: OperatorState, { task, attempts }: TaskState): boolean {
  const { run, baseCheck, integrated, resumed } = state;
  if (run === null || baseCheck === null || baseCheck.passed || integrated !== null || resumed > 0)
    return false;
  return attempts.length === 0 && checkOf(run, task)?.command === baseCheck.command;
}

/** The next task that may start. Those that wait until the check is repaired stay in the queue. */
export function nextTask(queue: ReadyQueue, state: OperatorState): string | undefined {
  const held: string[] = [];
  for (;;) {
    const [id] = queue.take(1);
    const task = id === undefined ? undefined : taskOf(state, id);
    if (id !== undefined && task !== undefined && waitsForRepair(state, task)) held.push(id);
    else {
      for (const one of held) queue.putBack(one);
      return id;
    }
  }
}

/** Why tasks are left that could start; null if that is not the reason. */
export function unrepaired(state: OperatorState): string | null {
  const { run, baseCheck } = state;
  const isHeld = tasksOf(state).some((task) => isOpen(task) && waitsForRepair(state, task));
  if (!isHeld || run === null || baseCheck === null) return null;
  return `the check fails on ${run.target} without any task (${baseCheck.ending}; its output: ${baseCheck.output}): repair it, or start the tasks that are left nevertheless: ${resumeCommand(run)}`;
}

function isOpen({ status }: TaskState): boolean {
  return status === 'queued' || status === 'ready';
}
