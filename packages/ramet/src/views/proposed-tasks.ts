/** A task list that an agent has proposed, for a person who decides about it. Its texts are a model's. */
import type { ListedTask, TaskList } from '../operator/tasks/listed-task.ts';
import { excerpt, table } from './text/format.ts';

const TITLE_LENGTH = 64;
const LIST_LENGTH = 60;
const MOST_FILES = 3;

export function proposalText({ tasks }: TaskList, file: string): string {
  const rows = tasks.map((task) => [
    excerpt(task.id, LIST_LENGTH),
    excerpt(task.title, TITLE_LENGTH),
    excerpt(task.dependsOn.join(', '), LIST_LENGTH) || '-',
    filesText(task),
  ]);
  const gates = tasks.flatMap(({ id, gate }) =>
    gate === null ? [] : [`${excerpt(id, LIST_LENGTH)} waits for a person: ${excerpt(gate, LIST_LENGTH)}\n`],
  );
  const heading = `${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'} for ${excerpt(file, LIST_LENGTH)}:\n\n`;
  return `${heading}${table([['TASK', 'WHAT', 'AFTER', 'FILES'], ...rows])}${gates.join('')}`;
}

function filesText({ files, optional }: ListedTask): string {
  const shown = files.slice(0, MOST_FILES).map((path) => excerpt(path, LIST_LENGTH));
  const more = files.length > MOST_FILES ? [`${files.length - MOST_FILES} more`] : [];
  const text = [...shown, ...more].join(', ') || '-';
  return optional ? `${text} (optional)` : text;
}
