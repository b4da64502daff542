/**
 * Writes the status of one task back into its file: the sign in its box, or the word of its status, and nothing else. The file
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

export async function markTask(
  path: string,
  { id, status }: { id: string; status: ListedStatus },
  options: TaskListOptions,
): Promise<MarkResult> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const result = await tryOnce(path, { id, status }, options);
    if (result !== 'overtaken') return result;
  }
  return { written: false, why: `${path} is being edited all the time: the status of ${id} was not written` };
}

async function tryOnce(
  path: string,
  { id, status }: { id: string; status: ListedStatus },
  options: TaskListOptions,
): Promise<MarkResult | 'overtaken'> {
  const target = await fileOf(path, id, options);
  if (target === null) return { written: false, why: `${id} is no longer in ${path}` };
  const full = realpathSync(resolve(options.cwd, target));
  const { bytes, stats } = await loadFile(full);
  const file = decodeTextFile(bytes);
  if (file === null) return { written: false, why: `${target} is no text file any more` };
  // The same bytes are read and written: a position from an older text could be another task's box.
  const tasks = (await taskListOf(file.text, target, options)).tasks.filter((task) => task.id === id);
  const [task] = tasks;
  if (task === undefined) return { written: false, why: `${id} is no longer in ${target}` };
  if (tasks.length > 1) return { written: false, why: `${target} has ${id} twice` };
  const text = replaced(file.text, task, status);
  if (text === null)
    return { written: false, why: `${target}:${task.line} has no place for the status ${status} of ${id}` };
  if (text === file.text) return { written: false, why: null };
  const unchanged = (now: string): boolean => {
    const found = statSync(now, { bigint: true, throwIfNoEntry: false });
    return found !== undefined && sameStamp(found, stats);
  };
  const current = { stats, unchanged };
  const outcome = await replaceFile(full, encodeTextFile(text, file), { owner: 'operator', current });
  return outcome === 'done' ? { written: true, why: null } : 'overtaken';
}

/** The file of a task: of a folder, the one that has it. */
async function fileOf(path: string, id: string, options: TaskListOptions): Promise<string | null> {
  if (!statSync(resolve(options.cwd, path)).isDirectory()) return path;
  const { tasks } = await readTaskList(path, options);
  return tasks.find((task) => task.id === id)?.file ?? null;
}

/** Null if there is no mark to replace, or if the format has no sign for the status. */
function replaced(text: string, { mark }: ListedTask, status: ListedStatus): string | null {
  if (mark === null) return null;
  const old = text.slice(mark.start, mark.end);
  const isBox = mark.kind === 'box' || mark.kind === 'numbered-box';
  const numbered = mark.kind === 'numbered-box';
  if ((isBox ? statusOfMark(old, numbered) : statusOfWord(old)) === status) return text;
  const written = isBox ? markOfStatus(status, numbered) : WORDS[mark.kind][status];
  if (written === null) return null;
  // A file that writes [X] keeps its habit.
  const habit = isBox && status === 'done' && text.includes('[X]') && !text.includes('[x]') ? 'X' : written;
  return text.slice(0, mark.start) + habit + text.slice(mark.end);
}
