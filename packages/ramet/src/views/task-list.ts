/** How a task list was read, line by line, and what is wrong with it. */
import {
  isEnded,
  LISTED_STATUSES,
  type ListedTask,
  type TaskList,
  type TaskProblem,
} from '../operator/tasks/listed-task.ts';
import { excerpt, printable, table } from './text/format.ts';

const TITLE_LENGTH = 80;
const LIST_LENGTH = 100;

/** What `--json` prints: the fields that other programs may rely on. */
export function taskListObject({ tasks, ignored, problems }: TaskList): Record<string, unknown> {
  return {
    tasks: tasks.map(({ id, title, line, status, optional, dependsOn, parallel, phase, files }) => {
      return { id, title, line, status, optional, depends_on: dependsOn, parallel, phase, files };
    }),
    ignored: ignored.map(({ line, why }) => ({ line, why })),
    problems: problems.map(({ file, line, column, level, message }) => ({
      file,
      line,
      column,
      level,
      message,
    })),
  };
}

export function taskListText(list: TaskList): string {
  const rows = list.readings.length > 0 ? readingRows(list) : folderRows(list);
  const read = rows.length === 0 ? '' : `${table([['LINE', 'READ AS'], ...rows])}\n`;
  return `${read}${problemText(list.problems)}${countText(list)}\n`;
}

function readingRows({ tasks, readings }: TaskList): string[][] {
  const byLine = Map.groupBy(tasks, ({ line }) => line);
  return readings.flatMap(({ line, count, what }) => {
    const task = what.startsWith('task ') ? byLine.get(line)?.shift() : undefined;
    if (task !== undefined) return taskRows(String(line), task);
    return [[count === 1 ? String(line) : `${line}-${line + count - 1}`, printable(what)]];
  });
}

/** In a folder each task has a file. */
function folderRows({ tasks }: TaskList): string[][] {
  return tasks.flatMap((task) => taskRows(`${excerpt(task.file, TITLE_LENGTH)}:${task.line}`, task));
}

function taskRows(place: string, task: ListedTask): string[][] {
  const flags = [task.parallel ? 'parallel' : '', task.optional ? 'optional' : ''].filter(
    (flag) => flag !== '',
  );
  const kind = [task.status.replace('_', ' '), ...flags].join(', ');
  const more = [
    task.parent === null ? '' : `part of ${task.parent}`,
    task.dependsOn.length === 0 ? '' : `after ${excerpt(task.dependsOn.join(', '), LIST_LENGTH)}`,
    task.files.length === 0 ? '' : `files ${excerpt(task.files.join(', '), LIST_LENGTH)}`,
    task.gate === null ? '' : `waits for a person: ${excerpt(task.gate, TITLE_LENGTH)}`,
  ].filter((text) => text !== '');
  const first = [place, `task ${task.id} (${kind}): ${excerpt(task.title, TITLE_LENGTH)}`];
  return more.length === 0 ? [first] : [first, ['', `  ${more.join('; ')}`]];
}

export function problemText(problems: readonly TaskProblem[]): string {
  return problems
    .map(
      ({ file, line, column, level, message }) =>
        `${printable(file)}:${line}:${column}: ${level}: ${printable(message)}\n`,
    )
    .join('');
}

/** `12 tasks: 3 done, 9 open`, or that nothing is left to do. */
export function countText({ tasks, problems }: TaskList): string {
  const counts = LISTED_STATUSES.map(
    (status) => [status, tasks.filter((task) => task.status === status).length] as const,
  );
  const parts = counts
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `${count} ${status.replace('_', ' ')}`);
  const errors = problems.filter(({ level }) => level === 'error').length;
  const wrong = errors === 0 ? '' : `; ${errors} ${errors === 1 ? 'error' : 'errors'}`;
  if (tasks.length === 0) return `no tasks${wrong}`;
  const left = tasks.filter(({ status, optional }) => !isEnded(status) && !optional);
  const count = `${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'}: ${parts.join(', ')}`;
  return left.length === 0 && errors === 0
    ? `${count}; all tasks are done, nothing is left to do`
    : `${count}${wrong}`;
}

/** Whether anything is left that must be done. */
export function isAllDone({ tasks, problems }: TaskList): boolean {
  const left = tasks.filter(({ status, optional }) => !isEnded(status) && !optional);
  return tasks.length > 0 && left.length === 0 && !problems.some(({ level }) => level === 'error');
}
