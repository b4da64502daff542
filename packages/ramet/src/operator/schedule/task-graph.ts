/**
 * Which task waits for which, from everything that a list says: declared dependencies, parents, phases and the order of the
 * file. Only tasks without parts are nodes: a parent is done when its parts are.
 *
 * 1. A task that says what it waits for waits for that alone. One that says nothing waits for all before it in its phase, or,
 *    if it may run in parallel, for the last one before it that may not.
 * 2. A task of a phase waits for all of earlier phases.
 * 3. What is done or cancelled is waited for by nobody.
 */
import { isEnded, type ListedTask, type TaskList } from '../tasks/listed-task.ts';

export interface TaskNode {
  readonly id: string;
  /** Ids of other nodes. */
  readonly waits: readonly string[];
  readonly barrier: number | null;
  readonly files: readonly string[];
  /** Deferred: nothing starts it, and what waits for it stays where it is. */
  readonly held: boolean;
}

export interface TaskGraph {
  /** In the order of the file. */
  readonly nodes: readonly TaskNode[];
}

export interface GraphOptions {
  /** Whether optional tasks are done too. */
  optional: boolean;
}

export function taskGraph({ tasks, ordered }: TaskList, { optional }: GraphOptions): TaskGraph {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const parts = Map.groupBy(tasks, ({ parent }) => parent);
  const leaves = new Leaves(parts, (task) => !isEnded(task.status) && (optional || !task.optional));
  const implied = ordered ? impliedOrder(tasks, parts, leaves) : new Map<string, readonly string[]>();
  const nodes = tasks
    .filter((task) => leaves.isNode(task))
    .map((task): TaskNode => {
      const sources = [...declared(task, byId), ...lineage(task, byId).flatMap((one) => declared(one, byId))];
      const lists = [...new Set(sources)].flatMap((id) => {
        const other = byId.get(id);
        return other === undefined ? [] : [leaves.of(other)];
      });
      const waits = joined([...lists, implied.get(task.id) ?? []], task.id);
      const { id, barrier, files, status } = task;
      return { id, waits, barrier, files, held: status === 'deferred' };
    });
  return { nodes };
}

function declared(task: ListedTask, byId: ReadonlyMap<string, ListedTask>): readonly string[] {
  return task.dependsOn.filter((id) => byId.has(id));
}

/** Its parents, nearest first. */
function lineage(task: ListedTask, byId: ReadonlyMap<string, ListedTask>): ListedTask[] {
  const found = new Set<ListedTask>();
  for (let id = task.parent; id !== null; ) {
    const above = byId.get(id);
    if (above === undefined || found.has(above)) break;
    found.add(above);
    id = above.parent;
  }
  return [...found];
}

/** One list is used as it is: a group of a thousand tasks has many readers. */
function joined(lists: readonly (readonly string[])[], self: string): readonly string[] {
  const full = lists.filter((list) => list.length > 0);
  const [only = []] = full;
  if (full.length <= 1 && !only.includes(self)) return only;
  const all = new Set(full.flat());
  all.delete(self);
  return [...all];
}

/** The nodes that a task stands for: itself, or its parts. */
class Leaves {
  readonly #parts: ReadonlyMap<string | null, readonly ListedTask[]>;
  readonly #counts: (task: ListedTask) => boolean;
  readonly #known: Map<string, readonly string[]> = new Map();

  constructor(
    parts: ReadonlyMap<string | null, readonly ListedTask[]>,
    counts: (task: ListedTask) => boolean,
  ) {
    this.#parts = parts;
    this.#counts = counts;
  }

  isNode(task: ListedTask): boolean {
    return !this.#parts.has(task.id) && this.#counts(task);
  }

  of(task: ListedTask): readonly string[] {
    const known = this.#known.get(task.id);
    if (known !== undefined) return known;
    const below = new Set([task]);
    for (const one of below) for (const part of this.#parts.get(one.id) ?? []) below.add(part);
    const found = [...below].filter((one) => this.isNode(one)).map(({ id }) => id);
    this.#known.set(task.id, found);
    return found;
  }
}

/** What the order of the file says about tasks that say nothing themselves. */
function impliedOrder(
  tasks: readonly ListedTask[],
  parts: ReadonlyMap<string | null, readonly ListedTask[]>,
  leaves: Leaves,
): Map<string, readonly string[]> {
  const implied = new Map<string, readonly string[]>();
  let phase: number | null = null;
  let last: string | null = null;
  let since: string[] = [];
  const byId = new Map(tasks.map((task) => [task.id, task]));
  for (const task of tasks) {
    if (parts.has(task.id) || !leaves.isNode(task)) continue;
    if (task.barrier !== phase) [phase, last, since] = [task.barrier, null, []];
    const placed = task.placed || lineage(task, byId).some((one) => one.wave !== null);
    const before: string[] = last === null ? [] : [last];
    if (placed || task.parallel) {
      if (!placed) implied.set(task.id, before);
      since.push(task.id);
    } else {
      implied.set(task.id, since.length > 0 ? [...since] : before);
      [last, since] = [task.id, []];
    }
  }
  return implied;
}
