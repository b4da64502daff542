/** TodoWrite replaces the agent's list of its own work; the engine journals it and carries it across a resume. */
import { TODO_STATUSES, type TodoItem } from '../schema/status.ts';
import * as z from '../schema/zod.ts';
import { stripAnsi } from '../system/text/visible-text.ts';
import { defineTool, type Tool } from './tool.ts';

const MOST_ITEMS = 200;
const LONGEST_ITEM = 1_000;

const text = z.string().check(z.minLength(1), z.maxLength(LONGEST_ITEM));

const input = z.strictObject({
  todos: z
    .array(
      z.strictObject({ content: text, status: z.enum(TODO_STATUSES), activeForm: z.optional(z.string()) }),
    )
    .check(z.maxLength(MOST_ITEMS)),
});

export const todoWriteTool: Tool = defineTool({
  name: 'TodoWrite',
  description:
    'Replace your todo list. Keep one for work of three or more steps; one item in_progress, completed as soon as done.',
  effect: 'read',
  schedule: 'ordered',
  input,
  async run({ todos }, context) {
    context.setTodos(todos.map((todo) => withoutSecrets(todo, context.redact)));
    return { content: summary(todos) };
  },
});

/** Views print the list. Escape sequences go first: they would hide a secret, and views take them out. */
function withoutSecrets(todo: TodoItem, redact: (text: string) => string): TodoItem {
  const { content, activeForm } = todo;
  const clean = (text: string): string => redact(stripAnsi(text));
  return {
    ...todo,
    content: clean(content),
    ...(activeForm !== undefined && { activeForm: clean(activeForm) }),
  };
}

function summary(todos: readonly TodoItem[]): string {
  if (todos.length === 0) return 'The todo list is empty.';
  const counts = TODO_STATUSES.map((status) => {
    const count = todos.filter((todo) => todo.status === status).length;
    return `${count} ${status.replace('_', ' ')}`;
  });
  return `Todos: ${counts.join(', ')}.`;
}
