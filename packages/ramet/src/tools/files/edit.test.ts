import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../../test/fixtures/temporary-directory.ts';
import { type TestAgent, testAgent } from '../../../test/fixtures/tool-context.ts';
import { editTool } from './edit.ts';
import { readTool } from './read.ts';
import { writeTool } from './write.ts';

async function opened(directory: string, content: string | Uint8Array): Promise<TestAgent> {
  writeFileSync(join(directory, 'a.txt'), content);
  const agent = testAgent(directory);
  await agent.run(readTool, { file_path: 'a.txt' });
  return agent;
}

const edit = (old_string: string, new_string: string, more: object = {}): object => ({
  file_path: 'a.txt',
  old_string,
  new_string,
  ...more,
});

const onDisk = (directory: string): string => readFileSync(join(directory, 'a.txt'), 'utf8');

describe('RES-6: Edit', () => {
  test('replaces one place and shows it', async ({ directory }) => {
    const agent = await opened(directory, 'a\nb\nc\nd\ne\nf\n');
    expect(await agent.text(editTool, edit('d\n', 'X\nY\n'))).toBe(
      'Edited a.txt.\n     1\ta\n     2\tb\n     3\tc\n     4\tX\n     5\tY\n     6\te\n     7\tf',
    );
    expect(onDisk(directory)).toBe('a\nb\nc\nX\nY\ne\nf\n');
  });

  test('takes the new text literally', async ({ directory }) => {
    const agent = await opened(directory, 'price\n');
    await agent.run(editTool, edit('price', "$& $1 $' \\n"));
    expect(onDisk(directory)).toBe("$& $1 $' \\n\n");
  });

  test('refuses text that occurs twice, names the lines, and replaces all when asked', async ({
    directory,
  }) => {
    const agent = await opened(directory, 'x = 1\ny = 2\nx = 1\n');
    expect(await agent.text(editTool, edit('x = 1', 'z'))).toContain('occurs 2 times (lines 1, 3)');
    expect(await agent.text(editTool, edit('x = 1', 'z', { replace_all: true }))).toContain('2 places');
    expect(onDisk(directory)).toBe('z\ny = 2\nz\n');
  });

  test('matches across lines of a CRLF file and keeps it CRLF', async ({ directory }) => {
    const agent = await opened(directory, 'a\r\nb\r\nc\r\n');
    await agent.run(editTool, edit('a\nb\n', 'x\n'));
    await agent.run(editTool, edit('x\r\nc', 'y\nz'));
    expect(onDisk(directory)).toBe('y\r\nz\r\n');
  });

  test('fills an empty file or creates a missing one when old_string is empty', async ({ directory }) => {
    const agent = await opened(directory, '');
    expect(await agent.text(editTool, edit('', 'one\n'))).toBe('Wrote a.txt (1 line).');
    expect(await agent.text(editTool, edit('', 'two\n'))).toContain(
      'old_string is empty but the file is not',
    );
    const created = { file_path: 'new/b.txt', old_string: '', new_string: 'x\n' };
    expect(await agent.text(editTool, created)).toBe('Created new/b.txt (1 line).');
    expect(onDisk(directory)).toBe('one\n');
  });

  test('can empty a file, and shows only the beginning of endless lines', async ({ directory }) => {
    const agent = await opened(directory, `${'x'.repeat(50_000)}y`);
    expect((await agent.text(editTool, edit('y', 'z'))).length).toBeLessThan(600);
    expect(await agent.text(editTool, edit(`${'x'.repeat(50_000)}z`, ''))).toContain('now empty');
  });
});

describe('RES-6: Edit that finds nothing', () => {
  const source = 'function total(items) {\n\treturn items.reduce(add, 0);\n}\n';

  test.for([
    ['white space', '  return items.reduce(add, 0);', /white space only.*\n {5}2\t\treturn/],
    ['line numbers', '     1\tfunction total(items) {', /leave out the line numbers/],
    ['a near line', 'return items.reduce(sum, 0);', /nearest line.*\n {5}2\t/],
    ['nothing like it', '#include <stdio.h>', /nor anything like it/],
    ['only white space', '   \n   ', /not found/],
  ] as const)('helps with %s', async ([, old, expected], { directory }) => {
    const agent = await opened(directory, source);
    const outcome = await agent.run(editTool, edit(old, 'x'));
    expect(outcome).toEqual({ content: expect.stringMatching(expected), isError: true });
    expect(onDisk(directory)).toBe(source);
  });

  test('refuses equal strings', async ({ directory }) => {
    const agent = await opened(directory, source);
    expect(await agent.run(editTool, edit('total', 'total'))).toMatchObject({ isError: true });
  });
});

describe('WORK-1: Write and Edit refuse what the agent has not seen', () => {
  test('a file that changed, was deleted, or was never read', async ({ directory }) => {
    const agent = await opened(directory, 'one\n');
    writeFileSync(join(directory, 'a.txt'), 'two\n');
    const stale = { content: expect.stringContaining('changed outside Ramet'), isError: true };
    expect(await agent.run(editTool, edit('two', 'x'))).toEqual(stale);
    expect(await agent.run(writeTool, { file_path: 'a.txt', content: 'x' })).toEqual(stale);
    rmSync(join(directory, 'a.txt'));
    expect(await agent.text(editTool, edit('two', 'x'))).toContain('was deleted');
    writeFileSync(join(directory, 'b.txt'), 'b');
    expect(await agent.text(writeTool, { file_path: 'b.txt', content: 'x' })).toContain('have not read it');
  });

  test('and what is not text, or not a file', async ({ directory }) => {
    const agent = await opened(directory, Buffer.from([0xff, 0x00, 0x41]));
    expect(await agent.text(editTool, edit('A', 'B'))).toContain('not UTF-8');
    mkdirSync(join(directory, 'dir'));
    expect(await agent.text(writeTool, { file_path: 'dir', content: '' })).toContain('is a directory');
    expect(await agent.run(writeTool, { file_path: 'a.txt/b', content: '' })).toMatchObject({
      isError: true,
    });
  });
});

describe('RES-6: Write', () => {
  test('creates a file with its directories, then replaces it', async ({ directory }) => {
    const agent = testAgent(directory);
    const file_path = 'deep/er/a.txt';
    expect(await agent.text(writeTool, { file_path, content: 'one\n' })).toBe(
      'Created deep/er/a.txt (1 line).',
    );
    expect(await agent.text(writeTool, { file_path, content: 'a\nb\n' })).toBe(
      'Wrote deep/er/a.txt (2 lines).',
    );
    expect(readFileSync(join(directory, file_path), 'utf8')).toBe('a\nb\n');
  });
});
