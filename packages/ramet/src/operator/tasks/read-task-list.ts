/** A task file, or a folder with a file for each task, as a list of tasks. Which format it is shows in its name and content. */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, extname, join, relative, resolve, sep } from 'node:path';
import { systemCode, UserMistake } from '../../schema/errors.ts';
import { loadFile } from '../../system/regular-file.ts';
import { decodeTextFile } from '../../system/text/text-file.ts';
import type { TaskList } from './listed-task.ts';
import { UNSIGNED } from './markdown/headings.ts';
import { readMarkdown } from './markdown/read-markdown.ts';
import { settleTasks } from './settle-tasks.ts';
import { safeText, TaskDraft } from './task-draft.ts';

export interface TaskListOptions {
  /** Read list items without a box as tasks. */
  bullets?: boolean | undefined;
  /** Which list of a JSON file that has several. */
  tag?: string | undefined;
  cwd: string;
  /** Ids of tasks elsewhere, such as those of a run, that tasks of the list may wait for. */
  elsewhere?: ReadonlySet<string> | undefined;
  /** The root of the repository; without one the folder of the file. */
  root?: string | undefined;
}

export const LARGEST_FILE: number = 8 << 20;
/** YAML takes ten times as long to read. */
export const LARGEST_YAML: number = 1 << 20;

export async function readTaskList(path: string, options: TaskListOptions): Promise<TaskList> {
  const full = resolve(options.cwd, path);
  const stats = statSync(full, { throwIfNoEntry: false });
  if (stats === undefined)
    throw new UserMistake('no_task_file', `${path} is not there: name a task file or a folder of tasks`);
  const list = stats.isDirectory()
    ? await readFolder(full, path, options)
    : await readFile(full, path, options);
  return sorted(noTasks(list, path));
}

async function readFile(full: string, path: string, options: TaskListOptions): Promise<TaskList> {
  return taskListOf(await readText(full, path), path, options);
}

/** The list of one file whose text is there already. */
export async function taskListOf(text: string, path: string, options: TaskListOptions): Promise<TaskList> {
  const draft = await draftOf(text, path, options);
  const { elsewhere } = options;
  return settleTasks(draft, { folder: folderOf(resolve(options.cwd, path), options), elsewhere });
}

async function draftOf(
  text: string,
  file: string,
  { bullets = false, tag }: TaskListOptions,
): Promise<TaskDraft> {
  const extension = extname(file).toLowerCase();
  if (text.trim() === '') return emptyFile(file);
  if (extension === '.json' || extension === '.jsonc')
    return (await import('./structured/read-json-tasks.ts')).readJsonTasks(text, { file, tag });
  if (extension === '.yaml' || extension === '.yml') {
    requireSize(text.length, LARGEST_YAML, file);
    return (await import('./structured/read-yaml-tasks.ts')).readYamlTasks(text, { file, tag });
  }
  if (!text.startsWith('---')) return readMarkdown(text, { file, bullets });
  const { isTaskFile, readTaskFileOf } = await import('./backlog-folder.ts');
  if (!isTaskFile(text)) return readMarkdown(text, { file, bullets });
  const draft = new TaskDraft(file);
  draft.ordered = false;
  readTaskFileOf(draft, text, file);
  return draft;
}

function emptyFile(file: string): TaskDraft {
  const draft = new TaskDraft(file);
  draft.problem({ line: 1 }, 'the file is empty: write tasks such as "- [ ] T001 Add the parser"');
  return draft;
}

async function readFolder(full: string, path: string, options: TaskListOptions): Promise<TaskList> {
  const { adoptRenamed, finishedIds, MOST_FILES, readTaskFileOf, taskFilesOf } = await import(
    './backlog-folder.ts'
  );
  const inner = ['backlog/tasks', 'tasks'].find((name) => existsSync(join(full, name)));
  const folder = inner === undefined ? full : join(full, inner);
  const files = taskFilesOf(folder);
  if (files.length > MOST_FILES)
    throw new UserMistake(
      'too_many_files',
      `${path} has more than ${MOST_FILES} files: name a smaller folder`,
    );
  const draft = new TaskDraft(path);
  draft.ordered = false;
  const left: string[] = [];
  for (const file of files) {
    const shown = join(path, relative(full, file));
    readTaskFileOf(draft, await readText(file, shown), shown, left);
  }
  for (const file of left)
    draft.ignored.push({
      line: 1,
      why: safeText(`${file} begins without id and status, so it is no task`, 300),
    });
  const [first] = left;
  if (first !== undefined && draft.tasks.length > 0)
    draft.problem(
      { line: 1, file: first },
      left.length === 1
        ? 'a file begins without id and status between --- lines and is no task'
        : `${left.length} files begin without id and status between --- lines and are no tasks`,
      'warning',
    );
  const finished = finishedIds(folder);
  adoptRenamed(draft, finished);
  const { elsewhere } = options;
  return settleTasks(draft, { folder: folderOf(join(folder, 'x'), options), finished, elsewhere });
}

async function readText(full: string, path: string): Promise<string> {
  try {
    const { bytes } = await loadFile(full);
    requireSize(bytes.length, LARGEST_FILE, path);
    const file = decodeTextFile(bytes);
    if (file === null)
      throw new UserMistake('no_text', `${path} is no text file: a task list is Markdown, YAML or JSON`);
    return file.text;
  } catch (error) {
    if (systemCode(error) === 'EACCES')
      throw new UserMistake('unreadable', `${path} cannot be read: permission denied`, { cause: error });
    throw error;
  }
}

function requireSize(size: number, largest: number, path: string): void {
  if (size > largest)
    throw new UserMistake(
      'too_large',
      `${path} has ${size} bytes, and ${largest} are the most for a task list: split it, or move details to other files`,
    );
}

/** The folder of a file from the root of its repository. */
function folderOf(full: string, { root }: TaskListOptions): string {
  const folder = realpathSync(dirname(full));
  const inside = relative(root === undefined ? folder : realpathSync(root), folder);
  return inside.startsWith('..') ? '' : inside.split(sep).join('/');
}

function noTasks(list: TaskList, file: string): TaskList {
  if (list.tasks.length > 0 || list.problems.some(({ level }) => level === 'error')) return list;
  const items = list.ignored.filter(({ why }) => why.startsWith('a list item')).length;
  const heading = list.readings.find(({ what }) => what.startsWith(UNSIGNED))?.what;
  const id = heading?.slice(UNSIGNED.length + 1).split(' ', 1)[0];
  const hint = [
    id === undefined ? '' : `; a heading needs a colon after its id, as in "### ${id}: title"`,
    items === 0 ? '' : '; it has list items without a box: read them as tasks with --bullets',
  ].join('');
  const message = `there are no tasks in it: a task is a line such as "- [ ] T001 Add the parser"${hint}`;
  return { ...list, problems: [...list.problems, { file, line: 1, column: 1, level: 'error', message }] };
}

function sorted(list: TaskList): TaskList {
  const problems = list.problems.toSorted(
    (one, other) =>
      Number(one.level === 'warning') - Number(other.level === 'warning') || one.line - other.line,
  );
  return { ...list, problems, ignored: list.ignored.toSorted((one, other) => one.line - other.line) };
}
