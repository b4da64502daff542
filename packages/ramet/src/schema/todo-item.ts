/** One entry of the list an agent keeps of its own work. Not a task: nobody assigns or runs it. */
export const TODO_STATUSES = ['pending', 'in_progress', 'completed'] as const;

export interface TodoItem {
  content: string;
  status: (typeof TODO_STATUSES)[number];
  /** How it reads while it is being done: "Fixing the parser". */
  activeForm?: string | undefined;
}

export function openTodos(todos: readonly TodoItem[]): TodoItem[] {
  return todos.filter(({ status }) => status !== 'completed');
}
