/**
 * Writes the status of tasks back into their file: the sign in a box, or the word of a status, and nothing else. The file
 * is replaced in one step. If it was edited meanwhile it is read again, so that nobody's edit is lost.
 */
import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadFile, sameStamp } from '../../system/regular-file.ts';
import { replaceFile } from '../../system/replace-file.ts';
import { decodeTextFile, encodeTextFile } from '../../system/text/text-file.ts';
import type { ListedStatus, ListedTask } from './listed-task.ts';
import { readTaskList, type TaskListOptions, taskListOf } from './read-task-list.ts';
import { markOfStatus, statusOfMark, statusOfWord } from './status-words.ts';

/** `why` says what was in the way; nothing was written then. */
export type MarkResult = { written: boolean; why: null } | { written: false; why: string };

const MOST_TRIES = 5;

const WORDS: Readonly<
  Record<'word' | 'backlog' | 'task-master', Readonly<Record<ListedStatus, string | null>>>
> = {
  word: {
    open: 'open',
    in_progress: 'in_progress',
    done: 'done',
    cancelled: 'cancelled',
    deferred: 'deferred',
  },
  backlog: { open: 'To Do', in_progress: 'In Progress', done: 'Done', cancelled: null, deferred: null },
  'task-master': {
    open: 'pending',
    in_progress: 'in-progress',
    done: 'done',
    cancelled: 'cancelled',
    deferred: 'deferred',
  },
};

/** By id. Each file is read and written once. */
export async function markTasks(
  path: string,
  { ids, status, titles }: Marking,
  options: TaskListOptions,
): Promise<ReadonlyMap<string, MarkResult>> {
  const results = new Map<string, MarkResult>(
    ids.map((id) => [id, { written: false, why: `${id} is no longer in ${path}` }]),
  );
  for (const [file, own] of await filesOf(path, ids, options))
    for (const [id, result] of await markIn(file, { ids: own, status, titles }, options))
      results.set(id, result);
  return results;
}

interface Marking {
  ids: readonly string[];
  status: ListedStatus;
  /** What was done, by id: a task that says something else by now is another one. */
  titles?: ReadonlyMap<string, string> | undefined;
}

async function markIn(
  file: string,
  marking: Marking,
  options: TaskListOptions,
): Promise<ReadonlyMap<string, MarkResult>> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const results = await tryOnce(file, marking, options);
    if (results !== 'overtaken') return results;
  }
  const why = (id: string): string =>
    `${file} is being edited all the time: the status of ${id} was not written`;
  return new Map(marking.ids.map((id) => [id, { written: false, why: why(id) }]));
}

async function tryOnce(
  target: string,
  { ids, status, titles }: Marking,
  options: TaskListOptions,
): Promise<ReadonlyMap<string, MarkResult> | 'overtaken'> {
  const full = realpathSync(resolve(options.cwd, target));
  const { bytes, stats } = await loadFile(full);
  const file = decodeTextFile(bytes);
  if (file === null)
    return new Map(ids.map((id) => [id, { written: false, why: `${target} is no text file any more` }]));
  // The same bytes are read and written: a position from an older text could be another task's box.
  const { tasks } = await taskListOf(file.text, target, options);
  const found = Map.groupBy(tasks, ({ id }) => id);
  const results = new Map<string, MarkResult>();
  const edits: Edit[] = [];
  for (const id of ids) {
    const title = titles?.get(id);
    const edit = editFor(id, found.get(id) ?? [], { text: file.text, status, target, title });
    if (typeof edit === 'string') results.set(id, { written: false, why: edit });
    else if (edit === null) results.set(id, { written: false, why: null });
    else {
      edits.push(edit);
      results.set(id, { written: true, why: null });
    }
  }
  if (edits.length === 0) return results;
  const unchanged = (now: string): boolean => {
    const seen = statSync(now, { bigint: true, throwIfNoEntry: false });
    return seen !== undefined && sameStamp(seen, stats);
  };
  const text = edited(file.text, edits);
  if (!(await isSameList(tasks, text, { target, options })))
    return new Map(
      ids.map((id) => [id, { written: false, why: `${target} has no safe place for the status of ${id}` }]),
    );
  const outcome = await replaceFile(full, encodeTextFile(text, file), {
    ...{ owner: 'operator', current: { stats, unchanged } },
  });
  return outcome === 'done' ? results : 'overtaken';
}

/** Whether an entry that got a status is read as before. What only has another sign or word is. */
async function isSameList(
  before: readonly ListedTask[],
  text: string,
  { target, options }: { target: string; options: TaskListOptions },
): Promise<boolean> {
  if (before.every(({ mark }) => mark?.around === undefined)) return true;
  const { tasks, problems } = await taskListOf(text, target, options);
  const known = (list: readonly ListedTask[]): string =>
    list.map(({ id, title }) => `${id} ${title}`).join('\n');
  return known(before) === known(tasks) && !problems.some(({ level }) => level === 'error');
}

interface Edit {
  start: number;
  end: number;
  word: string;
}

/** Why it cannot be; null if there is nothing to change. */
function editFor(
  id: string,
  tasks: readonly ListedTask[],
  {
    text,
    status,
    target,
    title,
  }: { text: string; status: ListedStatus; target: string; title?: string | undefined },
): Edit | string | null {
  const [task] = tasks;
  if (task === undefined) return `${id} is no longer in ${target}`;
  if (tasks.length > 1) return `${target} has ${id} twice`;
  if (title !== undefined && task.title !== title)
    return `${target}:${task.line}: ${id} is not marked, because its text has changed since: what was done is "${title}"`;
  const edit = replacement(text, task, status);
  return edit === undefined ? `${target}:${task.line} has no place for the status ${status} of ${id}` : edit;
}

/** From the end on, so that the positions of those before stay true. */
function edited(text: string, edits: readonly Edit[]): string {
  return edits
    .toSorted((one, other) => other.start - one.start)
    .reduce((whole, { start, end, word }) => whole.slice(0, start) + word + whole.slice(end), text);
}

/** The files of tasks: of a folder, those that have them. */
async function filesOf(
  path: string,
  ids: readonly string[],
  options: TaskListOptions,
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (!statSync(resolve(options.cwd, path)).isDirectory()) return new Map([[path, ids]]);
  const { tasks } = await readTaskList(path, options);
  const files = new Map<string, string[]>();
  for (const id of ids) {
    const file = tasks.find((task) => task.id === id)?.file;
    if (file !== undefined) files.set(file, [...(files.get(file) ?? []), id]);
  }
  return files;
}

/** Null if it says so already, undefined if there is no mark to replace, or if the format has no sign for the status. */
function replacement(text: string, { mark }: ListedTask, status: ListedStatus): Edit | null | undefined {
  if (mark === null) return undefined;
  const { start, end, around: [before, after] = ['', ''] } = mark;
  const old = text.slice(start, end);
  const isBox = mark.kind === 'box' || mark.kind === 'numbered-box';
  const numbered = mark.kind === 'numbered-box';
  if ((isBox ? statusOfMark(old, numbered) : statusOfWord(old)) === status) return null;
  const written = isBox ? markOfStatus(status, numbered) : WORDS[mark.kind][status];
  if (written === null) return undefined;
  // A file that writes [X] keeps its habit.
  const isUpper = isBox && status === 'done' && text.includes('[X]') && !text.includes('[x]');
  return { start, end, word: `${before}${isUpper ? 'X' : written}${after}` };
}
