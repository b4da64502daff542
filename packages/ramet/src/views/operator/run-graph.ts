/** Which task waits for which as one line: a group for each step, in the order in which they can start. Pure. */
import { type OperatorState, type TaskState, tasksOf } from '../../operator/run/operator-state.ts';
import { displayWidth } from '../text/format.ts';
import { markOf, plainLine } from './run-summary.ts';

/**
 * `✓ T001 → ● T002 ● T003 → · T004`, marks alone where ids have no room, counts where marks have none; null when that
 * would still not fit, or there is only one step.
 */
export function graphLine(state: OperatorState, columns: number): string | null {
  const steps = stepsOf(state);
  if (steps.length < 2) return null;
  const forms = [
    (task: TaskState[]) => task.map((one) => `${markOf(one)} ${plainLine(one.task.id, 20)}`).join('  '),
    (task: TaskState[]) => task.map(markOf).join(''),
    (task: TaskState[]) => `${task.filter(({ status }) => status === 'done').length}/${task.length}`,
  ];
  const lines = forms.map((form) => steps.map(form).join(' → '));
  return lines.find((line) => displayWidth(line) <= columns) ?? null;
}

/** Tasks by the longest chain of tasks before them. A barrier is a chain through the phase before it. */
function stepsOf(state: OperatorState): TaskState[][] {
  const tasks = tasksOf(state);
  const byId = new Map(tasks.map((task) => [task.task.id, task]));
  const steps = new Map<string, number>();
  const barriers = [...new Set(tasks.flatMap(({ task }) => task.barrier ?? []))].sort(
    (one, other) => one - other,
  );
  let floor = 0;
  for (const phase of [null, ...barriers]) {
    const members = tasks.filter(({ task }) => task.barrier === phase);
    const from = phase === null ? 0 : floor;
    for (const { task } of members) place(task.id, byId, steps, from);
    if (phase !== null) floor = Math.max(floor, ...members.map(({ task }) => (steps.get(task.id) ?? 0) + 1));
  }
  const grouped = Map.groupBy(tasks, ({ task }) => steps.get(task.id) ?? 0);
  return [...grouped].sort(([one], [other]) => one - other).map(([, members]) => members);
}

/** Without recursion: a list of two thousand tasks may be one chain. */
function place(
  id: string,
  byId: ReadonlyMap<string, TaskState>,
  steps: Map<string, number>,
  from: number,
): void {
  const open = [id];
  const entered = new Set<string>();
  for (let next = open.at(-1); next !== undefined; next = open.at(-1)) {
    const waits = (byId.get(next)?.task.waits ?? []).filter((other) => byId.has(other));
    const missing = waits.filter((other) => !steps.has(other) && !entered.has(other));
    if (steps.has(next) || missing.length === 0 || entered.has(next)) {
      if (!steps.has(next))
        steps.set(next, Math.max(from, ...waits.map((other) => (steps.get(other) ?? -1) + 1)));
      open.pop();
    } else {
      entered.add(next);
      open.push(...missing);
    }
  }
}
