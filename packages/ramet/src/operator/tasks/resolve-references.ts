/** From what a file says about ids to the tasks that are meant. */
import type { ListedTask, TaskReference } from './listed-task.ts';

export class TaskIndex {
  readonly tasks: readonly ListedTask[];
  readonly #exact: Map<string, ListedTask> = new Map();
  readonly #folded: Map<string, ListedTask> = new Map();
  readonly #position: Map<string, number> = new Map();
  #sections: Map<string, string[]> | null = null;
  #kinds: Set<string> | null = null;

  constructor(tasks: readonly ListedTask[]) {
    this.tasks = tasks;
    for (const [position, task] of tasks.entries()) {
      if (this.#exact.has(task.id)) continue;
      this.#exact.set(task.id, task);
      this.#position.set(task.id, position);
      const folded = foldId(task.id);
      if (!this.#folded.has(folded)) this.#folded.set(folded, task);
    }
  }

  find(id: string): ListedTask | undefined {
    return this.#exact.get(id) ?? this.#folded.get(foldId(id));
  }

  /**
   * The ids that a reference means: one, all of a range in the order of the file, or for the number of a section all tasks in it.
   * Empty when nothing has that id.
   */
  resolve({ id, to }: TaskReference): string[] {
    const first = this.find(id);
    if (to === undefined) return first === undefined ? this.#inSection(id) : [first.id];
    const last = this.find(to);
    if (first === undefined || last === undefined) return [];
    const from = this.#position.get(first.id) ?? 0;
    const until = this.#position.get(last.id) ?? 0;
    return this.tasks.slice(Math.min(from, until), Math.max(from, until) + 1).map((task) => task.id);
  }

  /** Whether a range ends before it begins, by its ids and in the file. */
  isBackwards({ id, to }: TaskReference): boolean {
    const [first, last] = [this.find(id), to === undefined ? undefined : this.find(to)];
    if (first === undefined || last === undefined || collator.compare(first.id, last.id) <= 0) return false;
    return (this.#position.get(first.id) ?? 0) > (this.#position.get(last.id) ?? 0);
  }

  /** Whether any task has an id of this kind: with the same letters, or with none. */
  hasKind(id: string): boolean {
    this.#kinds ??= new Set(this.tasks.map((task) => kindOf(task.id)));
    return this.#kinds.has(kindOf(id));
  }

  #inSection(id: string): string[] {
    if (!/^\d+(?:\.\d+)*$/.test(id)) return [];
    this.#sections ??= sectionsOf(this.tasks);
    return this.#sections.get(id) ?? [];
  }
}

const collator = new Intl.Collator('en', { numeric: true });

function sectionsOf(tasks: readonly ListedTask[]): Map<string, string[]> {
  const sections = new Map<string, string[]>();
  for (const { id } of tasks) {
    for (let dot = id.lastIndexOf('.'); dot > 0; dot = id.lastIndexOf('.', dot - 1)) {
      const section = id.slice(0, dot);
      const list = sections.get(section);
      if (list === undefined) sections.set(section, [id]);
      else list.push(id);
    }
  }
  return sections;
}

function kindOf(id: string): string {
  return foldId(id).replace(/\d.*$/, '');
}

/** `T-001`, `t001` and `T1` are one id to their writers; so are `BACK-7` and `back-7`. */
function foldId(id: string): string {
  return id
    .toLowerCase()
    .replace(/^t-?0*(?=\d)/, 't')
    .replace(/-0+(?=\d)/, '-')
    .replace(/\.$/, '');
}
