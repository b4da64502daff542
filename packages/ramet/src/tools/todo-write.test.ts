import { describe, expect } from 'vitest';
import { test } from '../../test/fixtures/temporary-directory.ts';
import { testAgent } from '../../test/fixtures/tool-context.ts';
import type { TodoItem } from '../schema/status.ts';
import { createRedactor } from './redaction/redact.ts';
import { parseInput } from './registry.ts';
import { todoWriteTool } from './todo-write.ts';

const item = (content: string, status: TodoItem['status']): TodoItem => ({ content, status });

describe('RES-6: TodoWrite', () => {
  test('replaces the list and counts it', async ({ directory }) => {
    const lists: (readonly TodoItem[])[] = [];
    const agent = testAgent(directory, { setTodos: (todos) => void lists.push(todos) });
    const todos = [item('a', 'completed'), item('b', 'in_progress'), item('c', 'pending')];
    expect(await agent.text(todoWriteTool, { todos })).toBe('Todos: 1 pending, 1 in progress, 1 completed.');
    expect(await agent.text(todoWriteTool, { todos: [] })).toBe('The todo list is empty.');
    expect(lists).toEqual([todos, []]);
  });

  test('records no secret, also where an escape sequence splits it (LOG-1)', async ({ directory }) => {
    const lists: (readonly TodoItem[])[] = [];
    const agent = testAgent(directory, {
      setTodos: (todos) => void lists.push(todos),
      redact: createRedactor({}),
    });
    const todos = ['', '\u001b[0m', '\u001b]0;x\u0007', '\u001b(B'].map((sequence) => {
      const content = `use sk-ant-api03-secre${sequence}tkey-1234567890abcdefghij`;
      return { content, status: 'pending', activeForm: content };
    });
    await agent.text(todoWriteTool, { todos });
    for (const { content, activeForm } of lists[0] ?? [])
      expect([content, activeForm]).toEqual(
        Array(2).fill(expect.stringMatching(/^use \[redacted: [^\]]+\]$/)),
      );
    expect(lists[0]).toHaveLength(4);
  });

  test.for([
    [{}, 'todos is missing'],
    [{ todos: 'x' }, 'todos: expected array'],
    [{ todos: [{ content: '', status: 'pending' }] }, 'todos.0.content: Too small'],
    [{ todos: [{ content: 'x', status: 'done' }] }, 'todos.0.status: expected one of "pending"'],
    [{ todos: [{ content: 'x', status: 'pending', id: 1 }] }, 'unknown field id'],
    [{ todos: Array(201).fill(item('x', 'pending')) }, 'todos: Too big'],
  ] as const)('refuses a wrong list and says where it is wrong: %#', ([input, expected]) => {
    expect(parseInput(todoWriteTool, input)).toEqual({
      ok: false,
      message: expect.stringContaining(expected),
    });
  });
});
