/**
 * From what a reader collected to a list that can be run: phases and waves, parents, resolved dependencies, files, and
 * everything that is wrong with them.
 */
import { checkGraph } from './check-graph.ts';
import { pathInRepository } from './file-hints.ts';
import { emptyTask, type ListedTask, type TaskList, type TaskReference } from './listed-task.ts';
import { TaskIndex } from './resolve-references.ts';
import { safeText, type TaskDraft } from './task-draft.ts';
import { checkSettings } from './task-settings.ts';

export interface SettleOptions {
  /** The folder of the task file, from the root of the repository. */
  folder: string;
  /** Ids that are known to be done though they are not in the list. */
  finished?: ReadonlySet<string>;
  /** Ids of tasks elsewhere that tasks of the list may wait for. */
  elsewhere?: ReadonlySet<string> | undefined;
}

const MOST_TASKS = 10_000;

export function settleTasks(
  draft: TaskDraft,
  { folder, finished = new Set(), elsewhere = new Set() }: SettleOptions,
): TaskList {
  const { tasks, ignored, problems, readings } = draft;
  addIssueTasks(draft);
  if (tasks.length > MOST_TASKS) {
    draft.problem(
      { line: 1 },
      `${tasks.length} tasks are too many: split the file, ${MOST_TASKS} is the most`,
    );
    return { tasks: [], ignored, problems, readings, ordered: draft.ordered };
  }
  reportDuplicates(draft);
  const index = new TaskIndex(tasks);
  setParents(draft, index);
  applyPhases(draft, index);
  applyEdges(draft, index);
  applyGates(draft, index);
  resolveAll(draft, index, { finished, elsewhere });
  applyWaves(draft, index);
  setFiles(draft, folder);
  settleStatuses(index);
  checkSettings(draft);
  checkGraph(draft, index);
  return { tasks, ignored, problems, readings, ordered: draft.ordered };
}

/** A file that only draws dependencies between issues: those with a phase are the tasks, and those that wait for another. */
function addIssueTasks(draft: TaskDraft): void {
  if (draft.tasks.length > 0 || draft.phases.length === 0) return;
  const listed = draft.phases.flatMap(({ references }) => references);
  const drawn = draft.edges.flatMap(({ subjects }) => subjects);
  const seen = new Set<string>();
  for (const { id, line } of [...listed, ...drawn]) {
    if (seen.has(id)) continue;
    seen.add(id);
    const title = id.startsWith('#') ? `issue ${id}` : id;
    draft.tasks.push({ ...emptyTask(id, title, { file: draft.file, line }), placed: true });
  }
  draft.ordered = false;
}

function reportDuplicates(draft: TaskDraft): void {
  const first = new Map<string, ListedTask>();
  for (const task of draft.tasks) {
    const known = first.get(task.id);
    if (known === undefined) first.set(task.id, task);
    else {
      const where = known.file === task.file ? `line ${known.line}` : `${known.file}:${known.line}`;
      draft.problem(task, `the id ${task.id} is used twice (first on ${where}): give one of them another id`);
    }
  }
}

/** `1.2` is a part of `1`, wherever it is indented. */
function setParents(draft: TaskDraft, index: TaskIndex): void {
  for (const task of index.tasks) {
    const dot = task.id.lastIndexOf('.');
    const above = dot > 0 ? index.find(task.id.slice(0, dot)) : undefined;
    if (above !== undefined && above !== task) task.parent = above.id;
  }
  const rooted = new Set<string>();
  for (const task of index.tasks) {
    const above = new Set([task.id]);
    let id = task.parent;
    for (; id !== null && !rooted.has(id) && !above.has(id); id = index.find(id)?.parent ?? null)
      above.add(id);
    if (id !== null && above.has(id)) {
      draft.problem(task, `${task.id} is a part of itself: ${[...above, id].join(' → ')}; remove one parent`);
      task.parent = null;
    }
    for (const one of above) rooted.add(one);
  }
  for (const task of index.tasks)
    if (task.parent !== null) task.optional ||= index.find(task.parent)?.optional ?? false;
}

function applyPhases(draft: TaskDraft, index: TaskIndex): void {
  for (const { phase, references } of draft.phases) {
    for (const reference of references) {
      const task = index.find(reference.id);
      if (task === undefined) draft.problem(reference, unknown(reference.id));
      else if (task.barrier !== null && task.barrier !== phase)
        draft.problem(reference, `${task.id} is in phase ${task.barrier} and in phase ${phase}: keep one`);
      else Object.assign(task, { phase: `phase ${phase}`, barrier: phase });
    }
  }
}

function applyEdges(draft: TaskDraft, index: TaskIndex): void {
  for (const { subjects, objects } of draft.edges) {
    for (const subject of subjects) reportBackwards(draft, index, subject);
    for (const id of subjects.flatMap((subject) => index.resolve(subject))) {
      const task = index.find(id);
      task?.references.push(...objects);
      if (task !== undefined) task.placed = true;
    }
  }
}

/** What must be approved is done first. */
function applyGates(draft: TaskDraft, index: TaskIndex): void {
  for (const { text, held, approved } of draft.gates)
    for (const reference of held) {
      const ids = index.resolve(reference);
      if (ids.length === 0) reportUnknownGate(draft, index, reference);
      for (const id of ids) {
        const task = index.find(id);
        if (task === undefined) continue;
        task.gate ??= text;
        task.references.push(...approved.map((one) => ({ ...one, weak: true })));
      }
    }
}

function reportUnknownGate(draft: TaskDraft, index: TaskIndex, { id, line, column }: TaskReference): void {
  if (index.hasKind(id))
    draft.problem({ line, column }, `a person must let ${safeText(id, 80)} through: ${unknown(id)}`);
}

function resolveAll(
  draft: TaskDraft,
  index: TaskIndex,
  { finished, elsewhere }: { finished: ReadonlySet<string>; elsewhere: ReadonlySet<string> },
): void {
  for (const task of index.tasks) {
    const wanted = new Set<string>();
    for (const reference of task.references) {
      const ids = index.resolve(reference);
      reportBackwards(draft, index, { ...reference, file: task.file });
      if (ids.length === 0 && reference.to === undefined && elsewhere.has(reference.id))
        wanted.add(reference.id);
      else if (ids.length === 0)
        reportUnknown(draft, index, task, { ...reference, done: isFinished(reference.id, finished) });
      for (const id of ids)
        if (isWanted(draft, index, task, { ...reference, id, range: ids.length > 1 })) wanted.add(id);
    }
    task.dependsOn = [...wanted];
  }
}

/** In a sentence the sign between them may be a dash. */
function reportBackwards(
  draft: TaskDraft,
  index: TaskIndex,
  { file = draft.file, ...range }: TaskReference & { file?: string },
): void {
  if (!index.isBackwards(range)) return;
  const { id, to = '', line, column, prose } = range;
  const message = `the range ${id}-${to} runs backwards: write ${to}-${id}, or ${id}, ${to} for these two`;
  draft.problem({ line, column, file }, message, prose === true ? 'warning' : 'error');
}

function isFinished(id: string, finished: ReadonlySet<string>): boolean {
  return finished.has(id.toLowerCase());
}

function reportUnknown(
  draft: TaskDraft,
  index: TaskIndex,
  task: ListedTask,
  { id, to, line, column, weak, prose, done }: TaskReference & { done: boolean },
): void {
  if (weak === true || done) return;
  const said = to === undefined ? id : `${id} to ${to}`;
  if (prose === true && !index.hasKind(id))
    draft.ignored.push({
      line,
      why: `${safeText(said, 80)} is no task of this file, so ${task.id} does not wait for it`,
    });
  else draft.problem({ line, column, file: task.file }, `${task.id} depends on ${said}: ${unknown(said)}`);
}

function unknown(id: string): string {
  return `there is no task ${safeText(id, 80)} in this file`;
}

/** A range may include the task itself and its parents; by name these are mistakes. */
function isWanted(
  draft: TaskDraft,
  index: TaskIndex,
  task: ListedTask,
  { id, line, column, range, weak }: TaskReference & { range: boolean },
): boolean {
  if (id === task.id) {
    if (!range && weak !== true)
      draft.problem({ line, column, file: task.file }, `${task.id} depends on itself: remove that`);
    return false;
  }
  for (let above = task.parent; above !== null; above = index.find(above)?.parent ?? null) {
    if (above !== id) continue;
    if (!range) draft.ignored.push({ line, why: `${task.id} is a part of ${id}, so it cannot wait for it` });
    return false;
  }
  return index.find(id)?.parent !== task.id;
}

/** A wave waits for the one before it. */
function applyWaves(draft: TaskDraft, index: TaskIndex): void {
  let before: string[] = [];
  for (const [number, { references }] of draft.waves.entries()) {
    const members: string[] = [];
    for (const reference of references) {
      const task = index.find(reference.id);
      if (task === undefined)
        draft.problem(reference, `wave ${number} has ${reference.id}: ${unknown(reference.id)}`);
      else if (task.wave !== null)
        draft.problem(reference, `${task.id} is in wave ${task.wave} and in wave ${number}: keep one`);
      else {
        Object.assign(task, { wave: number, placed: true });
        // One list for all members: a wave of a thousand tasks has a million pairs.
        task.dependsOn = task.dependsOn.length === 0 ? before : [...new Set([...task.dependsOn, ...before])];
        members.push(task.id);
      }
    }
    if (members.length > 0) before = members;
  }
}

function setFiles(draft: TaskDraft, folder: string): void {
  for (const { task, path, line, column, sure } of draft.fileNames) {
    const inside = pathInRepository(path, folder);
    if (inside === null) {
      const message = `${task.id} names ${path}, which is outside the repository`;
      draft.problem(
        { line, column, file: task.file },
        `${message}: name only files of the repository`,
        sure ? 'error' : 'warning',
      );
      continue;
    }
    if (!task.files.includes(inside)) task.files.push(safeText(inside, 400));
    task.declares ||= sure;
  }
}

/** A parent is done when its parts are; parts that are optional or will not be done do not count. */
function settleStatuses(index: TaskIndex): void {
  const parts = Map.groupBy(index.tasks, ({ parent }) => parent);
  // From the top down, then backwards: parts before what they are parts of. A set, as an id may be used twice.
  const order = new Set(parts.get(null));
  for (const task of order) for (const part of parts.get(task.id) ?? []) order.add(part);
  for (const task of [...order].reverse()) settle(task, parts.get(task.id) ?? []);
}

function settle(task: ListedTask, parts: readonly ListedTask[]): void {
  const needed = parts.filter((part) => !part.optional || task.optional);
  const states = needed.map(({ status }) => status).filter((status) => status !== 'cancelled');
  if (states.length === 0) return;
  const done = states.every((status) => status === 'done');
  if (done && task.openSteps === 0) task.status = 'done';
  else if (!done && task.status === 'done') task.status = states.includes('open') ? 'open' : 'in_progress';
}
