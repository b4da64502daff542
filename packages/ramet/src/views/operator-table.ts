/** A run of tasks for people: one line for each task, then what landed and what a person must do. */
import { costOfTask, type OperatorState, type TaskState, tasksOf } from '../operator/run/operator-state.ts';
import { dollars, excerpt, table } from './text/format.ts';

const TITLE_LENGTH = 50;
const REASON_LENGTH = 400;
const ID_LENGTH = 10;

export function operatorText(state: OperatorState): string {
  const tasks = tasksOf(state);
  const rows = tasks.map((task) => [
    excerpt(task.task.id, TITLE_LENGTH),
    statusText(task),
    String(task.attempts.length),
    dollars(costOfTask(task)),
    task.result?.slice(0, ID_LENGTH) ?? '-',
    excerpt(task.task.title, TITLE_LENGTH),
  ]);
  const head = ['TASK', 'STATUS', 'TRIES', 'COST', 'COMMIT', 'TITLE'];
  const lines = [...tasks.flatMap(reasonLines), ...runLines(state), countText(tasks)];
  return `${table([head, ...rows])}${lines.map((line) => `${line}\n`).join('')}`;
}

function statusText({ status, cause }: TaskState): string {
  return cause === null ? status : `${status}: ${excerpt(cause, TITLE_LENGTH)}`;
}

/** Why it is not done, and what to do about it. */
function reasonLines({ task, status, message, person, question }: TaskState): string[] {
  if (status === 'done' || status === 'skipped') return [];
  const asks = question === null ? [] : [`${question.tool} ${question.summary}: ${question.reason}`];
  const said = [...asks, message, person].filter((text) => text !== null);
  return said.length === 0 ? [] : [`${task.id}: ${excerpt(said.join('; '), REASON_LENGTH)}`];
}

function runLines({ run, landing, cause, message }: OperatorState): string[] {
  const why = cause === null ? [] : [`stopped: ${[cause, message].filter(Boolean).join(': ')}`];
  const target = run?.target ?? '';
  if (landing === null) return [`${target} is unchanged`, ...why];
  const commit = landing.commit.slice(0, ID_LENGTH);
  switch (landing.state) {
    case 'moved':
      return [
        `${target}: ${landing.before?.slice(0, ID_LENGTH)} to ${landing.after?.slice(0, ID_LENGTH)}`,
        ...why,
      ];
    case 'kept':
      return [
        `the result is ready as ${commit} and was not put on ${target}, which is checked out`,
        landing.message ?? '',
        ...why,
      ];
    default:
      return [`${target} is unchanged: ${landing.message ?? `${commit} has not landed`}`, ...why];
  }
}

function countText(tasks: readonly TaskState[]): string {
  const done = tasks.filter(({ status }) => status === 'done').length;
  const total = tasks.reduce<number | null>((sum, task) => {
    const cost = costOfTask(task);
    return sum === null || cost === null ? null : sum + cost;
  }, 0);
  return `${done} of ${tasks.length} tasks done, ${dollars(total)}`;
}
