import { describe, expect, test } from 'vitest';
import type { TodoItem } from '../../../schema/status.ts';
import { textStyle } from './text-style.ts';
import { todoRows } from './todo-rows.ts';

const TODOS: TodoItem[] = [
  { content: 'Look', status: 'completed' },
  { content: 'Fix \u001b[2Jthe parser', status: 'in_progress', activeForm: 'Fixing the parser' },
  { content: 'Test', status: 'pending' },
];

function texts(todos: readonly TodoItem[], rows: number): string[] {
  return todoRows(todos, { columns: 80, rows }, textStyle(false)).map(({ text }) => text);
}

describe('UI-1: the todo list stays in sight', () => {
  test('while anything is left to do', () => {
    expect(texts(TODOS, 24)).toEqual(['☑ Look', '◐ Fixing the parser', '☐ Test']);
    expect(texts(TODOS.slice(0, 1), 24)).toEqual([]);
    expect(texts([], 24)).toEqual([]);
  });

  test('on a low screen only what is being done', () => {
    expect(texts(TODOS, 10)).toEqual(['◐ Fixing the parser (1 of 3 done)']);
    expect(texts(TODOS, 5)).toEqual([]);
  });

  test('of a long list what has just been done and what comes next', () => {
    const long = Array.from({ length: 20 }, (_, index): TodoItem => {
      return { content: `step ${index}`, status: index < 9 ? 'completed' : 'pending' };
    });
    expect(texts(long, 24)).toEqual([
      '☑ step 8',
      ...[9, 10, 11, 12, 13, 14].map((index) => `☐ step ${index}`),
      '  9 of 20 done',
    ]);
  });
});
