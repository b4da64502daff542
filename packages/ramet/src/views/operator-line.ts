/** One line of text for each event of an operator's run. */
import type { OperatorAction, OperatorEvent, RebasedWork, TaskChanged } from '../schema/operator-events.ts';

export function describeOperatorEvent(event: OperatorEvent): string {
  switch (event.type) {
    case 'operator.started':
      return `operator started: ${event.tasks.length} ${event.tasks.length === 1 ? 'task' : 'tasks'} into ${event.run.target} (${event.run.policy})`;
    case 'operator.resumed':
      return 'operator resumed';
    case 'operator.tasks_added':
      return `tasks added: ${event.tasks.map(({ id }) => id).join(', ')}`;
    case 'operator.changed':
      return `operator ${saidOnce(event.status, event.cause, event.message)}`;
    case 'operator.base_checked':
      return event.check.passed
        ? 'the check succeeds without any task'
        : `the check fails without any task (${event.check.ending}): tasks that have not begun wait until one has repaired it; its output: ${event.check.output}`;
    case 'operator.integrated':
      if (event.rebased !== undefined) return rebasedText(event.rebased);
      return `merged ${event.tasks.join(', ')}: ${event.commit.slice(0, 12)}`;
    case 'operator.landed':
      return `landing ${event.state}: ${[event.commit.slice(0, 12), event.message].filter(Boolean).join(', ')}`;
    case 'operator.asked':
      return `asked for: ${actionText(event.action)}${event.refused === null ? '' : `, refused: ${event.refused}`}`;
    case 'task.changed':
      return describeTask(event);
    case 'task.marked':
      return event.written
        ? `task ${event.task} marked in its file`
        : `task ${event.task} not marked: ${event.why ?? 'it was already'}`;
  }
}

/** "interrupted: interrupted (SIGINT)" says one thing twice. */
function saidOnce(...parts: readonly (string | null | undefined)[]): string {
  const said = parts.flatMap((part) => (part ? [part] : []));
  return said.filter((part, index) => !said[index + 1]?.startsWith(part)).join(': ');
}

function rebasedText({ onto, left }: RebasedWork): string {
  const out = left.length === 0 ? '' : `, without ${left.map(({ task }) => task).join(', ')}`;
  return `the result is on top of ${onto.slice(0, 12)} now${out}`;
}

function describeTask({ task, status, cause, message, attempt }: TaskChanged): string {
  const how = saidOnce(status, cause, message);
  const last = attempt?.reviews?.at(-1);
  if (last !== undefined && status === 'verifying')
    return `task ${task} ${last.approved ? 'approved' : 'refused'} by ${last.type} (attempt ${attempt?.number})`;
  const notes = (attempt?.notes ?? []).map((note) => `; ${note}`).join('');
  return `task ${task} ${how}${attempt === undefined ? '' : ` (attempt ${attempt.number})`}${notes}`;
}

function actionText(action: OperatorAction): string {
  switch (action.kind) {
    case 'add':
      return `add ${action.tasks.map(({ id }) => id).join(', ')}`;
    case 'skip':
    case 'retry':
    case 'start':
      return `${action.kind} ${action.task}`;
    case 'approve':
      return `approve ${action.task} at ${action.commit.slice(0, 12)} (${action.who})`;
    case 'answer':
      return `answer ${action.question}: ${action.answer}`;
    default:
      return action.kind;
  }
}
