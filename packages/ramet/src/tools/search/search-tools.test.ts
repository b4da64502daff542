import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { runSync } from '../../../test/fixtures/run-sync.ts';
import { test } from '../../../test/fixtures/temporary-directory.ts';
import { type TestAgent, testAgent } from '../../../test/fixtures/tool-context.ts';
import { globTool } from './glob.ts';
import { grepTool } from './grep.ts';

/** A repository with the given files, each a second older than the one before. */
function repository(directory: string, files: Record<string, string>): TestAgent {
  runSync('git', ['init', '-q'], { cwd: directory });
  for (const [index, [name, content]] of Object.entries(files).entries()) {
    const path = join(directory, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    utimesSync(path, 2_000_000_000 - index, 2_000_000_000 - index);
  }
  return testAgent(directory);
}

describe('RES-6: Glob', () => {
  const files = {
    'src/new.ts': '',
    'src/deep/old.ts': '',
    '.github/ci.yml': '',
    'debug.log': '',
    'dist/out.ts': '',
    'grün raum.ts': '',
    '.gitignore': '*.log\ndist/\n',
  };

  test('lists matches newest first, relative to the agent', async ({ directory }) => {
    const agent = repository(directory, files);
    expect(await agent.text(globTool, { pattern: '**/*.ts' })).toBe(
      'src/new.ts\nsrc/deep/old.ts\ngrün raum.ts',
    );
    expect(await agent.text(globTool, { pattern: '*.ts', path: 'src' })).toBe('src/new.ts');
    expect(await agent.text(globTool, { pattern: 'src/*/*.ts' })).toBe('src/deep/old.ts');
    expect(await agent.text(globTool, { pattern: join(directory, 'src/*.ts') })).toBe('src/new.ts');
  });

  test('shows hidden files, not git itself, and not what git ignores even when the pattern names it', async ({
    directory,
  }) => {
    const agent = repository(directory, files);
    const all = (await agent.text(globTool, { pattern: '**' })).split('\n');
    expect(all.sort()).toEqual([
      '.github/ci.yml',
      '.gitignore',
      'grün raum.ts',
      'src/deep/old.ts',
      'src/new.ts',
    ]);
    expect(await agent.text(globTool, { pattern: '**/*.log' })).toContain('No file matches');
    expect(await agent.text(globTool, { pattern: 'dist/*.ts' })).toBe('dist/out.ts');
  });

  test('caps at 100 and counts the rest', async ({ directory }) => {
    const many = Object.fromEntries(Array.from({ length: 130 }, (_, index) => [`f${index}.txt`, '']));
    const lines = (await repository(directory, many).text(globTool, { pattern: '*.txt' })).split('\n');
    expect(lines).toHaveLength(101);
    expect(lines.at(-1)).toContain('30 more');
  });

  test('names a bad pattern, a missing directory and a file', async ({ directory }) => {
    const agent = repository(directory, files);
    expect(await agent.run(globTool, { pattern: '{a' })).toMatchObject({ isError: true });
    expect(await agent.text(globTool, { pattern: '*', path: 'no' })).toContain('does not exist');
    expect(await agent.text(globTool, { pattern: '*', path: '.gitignore' })).toContain('not a directory');
  });

  test('ends with its caller', async ({ directory }) => {
    const agent = repository(directory, files);
    const result = agent.run(globTool, { pattern: '**' });
    agent.abort();
    expect(await result).toEqual({ content: 'The search was interrupted.', isError: true });
  });
});

describe('RES-6: Grep', () => {
  const files = {
    'b.ts': 'one\nneedle two\nthree\n',
    'a.ts': 'x\ny\nneedle\nz\nw\nNeedle\n',
    'sub/c.md': 'needle-3- dash\n',
    'skip.log': 'needle\n',
    '.gitignore': '*.log\n',
    '.hidden': 'needle\n',
  };

  test('lists files by default, in order of path, hidden ones too, ignored ones not', async ({
    directory,
  }) => {
    const agent = repository(directory, files);
    expect(await agent.text(grepTool, { pattern: 'needle' })).toBe('.hidden\na.ts\nb.ts\nsub/c.md');
    expect(await agent.text(grepTool, { pattern: 'needle', glob: '*.ts' })).toBe('a.ts\nb.ts');
    expect(await agent.text(grepTool, { pattern: 'needle', path: 'sub' })).toBe('sub/c.md');
    expect(await agent.text(grepTool, { pattern: 'needle', path: join(directory, 'b.ts') })).toBe('b.ts');
  });

  test('shows lines with path and number, or without number', async ({ directory }) => {
    const agent = repository(directory, files);
    const search = { pattern: 'needle', output_mode: 'content', glob: '*.{ts,md}' };
    expect(await agent.text(grepTool, search)).toBe(
      'a.ts:3:needle\nb.ts:2:needle two\nsub/c.md:1:needle-3- dash',
    );
    expect(await agent.text(grepTool, { ...search, '-n': false, path: 'b.ts' })).toBe('b.ts:needle two');
  });

  test('ignores case, adds context and marks gaps', async ({ directory }) => {
    const agent = repository(directory, files);
    const search = { pattern: 'needle', output_mode: 'content', '-i': true, '-B': 1, glob: '*.ts' };
    expect((await agent.text(grepTool, search)).split('\n')).toEqual([
      ...['a.ts-2-y', 'a.ts:3:needle', '--', 'a.ts-5-w', 'a.ts:6:Needle'],
      ...['--', 'b.ts-1-one', 'b.ts:2:needle two'],
    ]);
    const after = { pattern: 'two', output_mode: 'content', '-A': 1 };
    expect(await agent.text(grepTool, after)).toBe('b.ts:2:needle two\nb.ts-3-three');
    expect(await agent.text(grepTool, { ...after, '-A': 0, '-C': 1 })).toContain('b.ts-1-one');
  });

  test('takes text that looks like a line number for text, and shows CRLF as a plain line end', async ({
    directory,
  }) => {
    const agent = repository(directory, { 'a.txt': '12-monkeys\r\n' });
    const search = { pattern: 'monkeys', output_mode: 'content' };
    expect(await agent.text(grepTool, { ...search, '-n': false })).toBe('a.txt:12-monkeys');
    expect(await agent.text(grepTool, search)).toBe('a.txt:1:12-monkeys');
  });

  test('counts', async ({ directory }) => {
    const agent = repository(directory, files);
    const search = { pattern: 'needle', output_mode: 'count', '-i': true, glob: '*.ts' };
    expect(await agent.text(grepTool, search)).toBe('a.ts:2\nb.ts:1');
  });

  test('says when nothing matches, and shows what is wrong with a regular expression', async ({
    directory,
  }) => {
    const agent = repository(directory, files);
    expect(await agent.run(grepTool, { pattern: 'nowhere' })).toEqual({ content: 'No match for nowhere.' });
    expect(await agent.run(grepTool, { pattern: '(' })).toEqual({
      content: expect.stringContaining('unclosed group'),
      isError: true,
    });
    expect(await agent.run(grepTool, { pattern: 'x', glob: '{' })).toMatchObject({ isError: true });
    expect(await agent.text(grepTool, { pattern: 'x', path: 'no' })).toContain('does not exist');
    expect(await agent.text(grepTool, { pattern: '-needle', output_mode: 'count' })).toContain('No match');
  });

  test('caps lines, their length and the whole, and counts the rest', async ({ directory }) => {
    const agent = repository(directory, { 'a.txt': `x${'y'.repeat(5_000)}\n`.repeat(1_000) });
    const search = { pattern: 'x', output_mode: 'content' };
    const text = await agent.text(grepTool, search);
    expect(text.length).toBeLessThan(31_000);
    expect(text).toMatch(/\n\(\d+ more lines are not shown: narrow the search\.\)$/);
    expect((await agent.text(grepTool, { ...search, head_limit: 2 })).split('\n')).toHaveLength(3);
  });

  test('stops reading when the output is far too large', async ({ directory }) => {
    const agent = repository(directory, {
      'a.txt': 'needle in a line of some length, to fill the output\n'.repeat(300_000),
    });
    expect(await agent.text(grepTool, { pattern: 'needle', output_mode: 'content' })).toContain('(over ');
  });

  test('ends with its caller', async ({ directory }) => {
    const agent = repository(directory, files);
    const result = agent.run(grepTool, { pattern: 'needle' });
    agent.abort();
    expect(await result).toMatchObject({ isError: true });
  });
});
