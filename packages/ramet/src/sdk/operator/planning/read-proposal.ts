/** The task list in an agent's answer. It is a proposal: what runs commands or costs more is for a person to add. */
import { fencedBlocks } from '../../../model/recipe/fenced-blocks.ts';
import type { TaskList, TaskProblem } from '../../../operator/tasks/listed-task.ts';
import { type TaskListOptions, taskListOf } from '../../../operator/tasks/read-task-list.ts';
import { printable } from '../../../views/text/format.ts';
import { MOST_TASKS } from './goal-prompt.ts';

export interface Proposal {
  /** The text of the file. */
  text: string;
  list: TaskList;
  /** What makes it unusable. */
  errors: readonly TaskProblem[];
}

/** `file` is the name it will have. */
export async function readProposal(
  answer: string,
  file: string,
  options: TaskListOptions,
): Promise<Proposal> {
  const found = taskText(answer);
  const fail = (message: string, line = 1): TaskProblem => ({
    file,
    line,
    column: 1,
    level: 'error',
    message,
  });
  if (found === null)
    return { text: '', list: NO_TASKS, errors: [fail('there is no YAML block that begins with "tasks:"')] };
  const { text, cut } = found;
  const list = await taskListOf(text, file, options);
  const errors = list.problems.filter(({ level }) => level === 'error');
  if (cut) errors.push(fail('the block ends too early: use no fences (```) inside it'));
  for (const { id, line, settings, status } of list.tasks) {
    const [key] = Object.keys(settings);
    if (key !== undefined) errors.push(fail(`${id} has the key "${key}": leave it out`, line));
    if (status !== 'open') errors.push(fail(`${id} is ${status}: leave out its status`, line));
  }
  if (list.tasks.length === 0 && errors.length === 0) errors.push(fail('it has no tasks'));
  if (list.tasks.length > MOST_TASKS)
    errors.push(fail(`it has ${list.tasks.length} tasks, and ${MOST_TASKS} are the most`));
  return { text, list, errors };
}

const NO_TASKS: TaskList = { tasks: [], ignored: [], problems: [], readings: [], ordered: false };

interface FoundText {
  text: string;
  /** It goes on after its end: a fence inside the block has closed it. */
  cut: boolean;
}

/** Without characters that could play tricks on a terminal that shows the file. */
function taskText(answer: string): FoundText | null {
  const block = fencedBlocks(answer).findLast(({ content }) => BEGINNING.test(content));
  if (block === undefined) return BEGINNING.test(answer) ? { text: clean(answer), cut: false } : null;
  const after = answer.split('\n').slice(block.line + block.content.split('\n').length - 1);
  const cut = !block.closed || after.some((line) => /^\s*(?:- )?(?:id|title|depends_on|details):/.test(line));
  return { text: clean(block.content), cut };
}

const BEGINNING = /^\s*(?:#.*\n\s*)*tasks:/;

function clean(text: string): string {
  return `${printable(text).trimEnd()}\n`;
}
