/** Contradictions between what a file says: cycles with their path, phases and waves that a dependency runs against. */
import { isEnded, type ListedTask } from './listed-task.ts';
import type { TaskIndex } from './resolve-references.ts';
import type { TaskDraft } from './task-draft.ts';

const MOST_CYCLES = 10;
const LONGEST_PATH = 30;

export function checkGraph(draft: TaskDraft, index: TaskIndex): void {
  for (const task of index.tasks) {
    for (const id of task.dependsOn) {
      const other = index.find(id);
      if (other !== undefined) checkOrder(draft, task, other);
    }
  }
  const cycles = cyclesOf(index);
  for (const path of cycles.slice(0, MOST_CYCLES)) reportCycle(draft, index, path);
}

function checkOrder(draft: TaskDraft, task: ListedTask, other: ListedTask): void {
  const place = placeOf(task, other.id);
  if (task.wave !== null && other.wave !== null && other.wave >= task.wave)
    draft.problem(
      place,
      `${task.id} (wave ${task.wave}) depends on ${other.id} (wave ${other.wave}): move one of them, or remove the dependency`,
    );
  else if (task.barrier !== null && other.barrier !== null && other.barrier > task.barrier)
    draft.problem(
      place,
      `${task.id} (${task.phase}) depends on ${other.id} of a later phase (${other.phase}): move one of them, or remove the dependency`,
    );
}

/** Where a task says that it depends on another. */
function placeOf(task: ListedTask, id: string): { line: number; column: number; file: string } {
  const said = task.references.find((one) => one.id === id);
  return { line: said?.line ?? task.line, column: said?.column ?? 1, file: task.file };
}

function reportCycle(draft: TaskDraft, index: TaskIndex, path: readonly string[]): void {
  const [first = '', second = ''] = path;
  const task = index.find(first);
  if (task === undefined) return;
  const shown =
    path.length > LONGEST_PATH
      ? [...path.slice(0, LONGEST_PATH), `${path.length - LONGEST_PATH} more`]
      : path;
  const lines = shown.map((id) =>
    index.find(id) === undefined ? id : `${id} (line ${index.find(id)?.line})`,
  );
  // What is done waits for nothing any more.
  const level = path.every((id) => isEnded(index.find(id)?.status ?? 'open')) ? 'warning' : 'error';
  const message = `these tasks wait for each other: ${[...lines, first].join(' → ')}; remove one dependency`;
  draft.problem(placeOf(task, second), message, level);
}

/** One path for each group of tasks that wait for each other. A parent waits for its parts, a part for what its parents wait for. */
function cyclesOf(index: TaskIndex): string[][] {
  const waits = waitsOf(index);
  const state = new Map<string, 'open' | 'closed'>();
  const cycles: string[][] = [];
  for (const { id } of index.tasks) {
    if (state.has(id)) continue;
    const trail: { id: string; next: number }[] = [{ id, next: 0 }];
    state.set(id, 'open');
    for (let top = trail.at(-1); top !== undefined; top = trail.at(-1)) {
      const to = waits.get(top.id)?.[top.next];
      top.next += 1;
      if (to === undefined) {
        state.set(top.id, 'closed');
        trail.pop();
      } else if (!state.has(to)) {
        state.set(to, 'open');
        trail.push({ id: to, next: 0 });
      } else if (state.get(to) === 'open' && cycles.length < MOST_CYCLES) {
        cycles.push(trail.slice(trail.findIndex((one) => one.id === to)).map((one) => one.id));
      }
    }
  }
  return cycles;
}

function waitsOf(index: TaskIndex): Map<string, string[]> {
  const waits = new Map<string, string[]>();
  const parts = Map.groupBy(index.tasks, ({ parent }) => parent);
  for (const task of index.tasks) {
    if (waits.has(task.id)) continue;
    const own = (parts.get(task.id) ?? []).map(({ id }) => id);
    const inherited: string[] = [];
    for (let above = task.parent; above !== null && inherited.length < 10_000; ) {
      const parent = index.find(above);
      if (parent === undefined) break;
      inherited.push(...parent.dependsOn);
      above = parent.parent === above ? null : parent.parent;
    }
    waits.set(
      task.id,
      own.length + inherited.length === 0 ? task.dependsOn : [...task.dependsOn, ...inherited, ...own],
    );
  }
  return waits;
}
