import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { runProgram } from './program.ts';

const user = (content: unknown): string =>
  JSON.stringify({ type: 'user', message: { role: 'user', content } });
const write = (name: string): string => user(`~~~write ${name}\nx\n~~~`);
const FLAGS =
  '-p --model recipe --permission-mode acceptEdits --input-format stream-json --output-format stream-json';

async function stream(
  ...lines: string[]
): Promise<Record<'cwd' | 'notes', string> & { code: number; told: unknown[] }> {
  const cwd = temporaryDirectory();
  let [out, notes] = ['', ''];
  const code = await runProgram(FLAGS.split(' '), {
    out: (text) => {
      out += text;
    },
    ...{ isTerminal: false, columns: null, progress: () => {} },
    note: (line) => {
      notes += `${line}\n`;
    },
    piped: () => Readable.from([`${lines.join('\n')}\n`]),
    env: { PATH: process.env.PATH, HOME: cwd, RAMET_HOME: join(cwd, 'state') },
    ...{ cwd, signal: new AbortController().signal },
  });
  const told = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ type, subtype }) => type === 'result' || subtype === 'input_error');
  return { code, told, notes, cwd };
}

describe('UI-4: a stream of prompts goes on', () => {
  test('after a run that failed, whose exit code counts', async () => {
    const { code, told, cwd } = await stream(
      write('a.txt'),
      user('~~~sh\nfalse\n~~~'),
      write('b.txt'),
      write('c.txt'),
    );
    expect(told).toMatchObject([
      { is_error: false },
      { is_error: true },
      { is_error: false },
      { is_error: false },
    ]);
    expect(['a.txt', 'b.txt', 'c.txt'].map((name) => existsSync(join(cwd, name)))).toEqual([
      true,
      true,
      true,
    ]);
    expect(code).toBe(1);
  });

  test('after a prompt that is refused, which is told with its line', async () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'zz' } };
    const { code, told, notes, cwd } = await stream(user([image]), user('/nope x'), write('a.txt'));
    expect(told).toMatchObject([
      { line: 1, error: expect.stringContaining('part 1 of the prompt is refused') },
      { line: 2, error: expect.stringContaining('there is no skill or command /nope') },
      { type: 'result', is_error: false },
    ]);
    expect(notes).toContain('line 2 of standard input: there is no skill or command /nope');
    expect(existsSync(join(cwd, 'a.txt'))).toBe(true);
    expect(code).toBe(2);
  });
});
