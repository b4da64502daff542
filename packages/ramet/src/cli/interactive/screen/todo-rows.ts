/** The todo list of the main agent, for the rows that stay in sight. Pure. */
import { openTodos, type TodoItem } from '../../../schema/status.ts';
import { safeLine } from '../../../views/text/format.ts';
import type { ScreenSize } from './screen.ts';
import type { TextStyle } from './text-style.ts';

export interface TodoRow {
  readonly text: string;
  readonly paint: (text: string) => string;
}

const MOST_ROWS = 8;

/** While anything is left to do. On a low screen only what is being done, with how far it is. */
export function todoRows(todos: readonly TodoItem[], { rows }: ScreenSize, style: TextStyle): TodoRow[] {
  const open = openTodos(todos);
  if (open.length === 0 || rows < 6) return [];
  const done = todos.length - open.length;
  const most = rows < 14 ? 1 : Math.min(MOST_ROWS, Math.floor(rows / 3));
  const current = Math.max(
    0,
    todos.findIndex(({ status }) => status !== 'completed'),
  );
  if (most === 1) {
    const doing = todos.find(({ status }) => status === 'in_progress') ?? open[0];
    return doing === undefined ? [] : [row(doing, style, ` (${done} of ${todos.length} done)`)];
  }
  if (todos.length <= most) return todos.map((todo) => row(todo, style));
  // The one before it shows what has just been done.
  const start = Math.min(Math.max(0, current - 1), todos.length - (most - 1));
  const shown = todos.slice(start, start + most - 1).map((todo) => row(todo, style));
  return [...shown, { text: `  ${done} of ${todos.length} done`, paint: style.dim }];
}

function row({ content, activeForm, status }: TodoItem, style: TextStyle, after = ''): TodoRow {
  if (status === 'completed') return { text: `☑ ${safeLine(content)}${after}`, paint: style.dim };
  if (status === 'pending') return { text: `☐ ${safeLine(content)}${after}`, paint: (text) => text };
  return { text: `◐ ${safeLine(activeForm ?? content)}${after}`, paint: style.bold };
}
