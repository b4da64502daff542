import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { type InputLine, inputLines } from './stream-input.ts';

/** Without what repeats a message, which is the line itself. */
async function read(...chunks: (string | Buffer)[]): Promise<Omit<InputLine, 'line'>[]> {
  const lines: Omit<InputLine, 'line'>[] = [];
  for await (const read of inputLines(Readable.from(chunks))) {
    const { line: _, ...rest } = 'line' in read ? read : { ...read, line: null };
    lines.push(rest);
  }
  return lines;
}

const user = (content: unknown): string =>
  JSON.stringify({ type: 'user', message: { role: 'user', content } });

describe('UI-4: lines of --input-format stream-json', () => {
  test('are prompts, however they are cut, with their numbers; empty lines are passed over', async () => {
    const text = `${user('one')}\n\n${user([{ type: 'text', text: 'zwei ü' }])}\r\n${user('three')}`;
    const bytes = Buffer.from(text);
    const parts = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) =>
      bytes.subarray(at * 7, at * 7 + 7),
    );
    expect(await read(...parts)).toEqual([
      { number: 1, prompt: 'one' },
      { number: 3, prompt: 'zwei ü' },
      { number: 4, prompt: 'three' },
    ]);
  });

  test('may begin with a byte order mark', async () => {
    expect(await read(`\ufeff${user('one')}\n`)).toEqual([{ number: 1, prompt: 'one' }]);
  });

  test('have texts and images', async () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } };
    expect(await read(user([{ type: 'text', text: 'look' }, image]))).toEqual([
      { number: 1, prompt: ['look', { type: 'image', data: 'QUJD' }] },
    ]);
  });

  test.each([
    ['{not json', /it is no JSON: give \{"type":"user"/],
    [
      '{"type":"keep_alive"}',
      /its type is "keep_alive", and only "user" and "control_request" are understood/,
    ],
    ['{"type":"control_request"}', /its request_id is missing: give \{"type":"control_request"/],
    ['{"type":"control_request","request_id":"1"}', /its subtype is missing: give/],
    ['null', /its type is missing/],
    ['[1]', /its type is missing/],
    ['{"type":"user"}', /it has no content/],
    ['{"type":"user","message":{"role":"assistant","content":"x"}}', /its role is "assistant"/],
    [user(' '), /its content is empty/],
    [user([]), /it has no content/],
    [user([{ type: 'text', text: 'x' }, { type: 'tool_result' }]), /part 2 of its content is "tool_result"/],
    [user([5]), /part 1 of its content is missing/],
  ])('%s is told, and the next line counts', async (line, problem) => {
    expect(await read(`${line}\n${user('next')}\n`)).toEqual([
      { number: 1, problem: expect.stringMatching(problem) },
      { number: 2, prompt: 'next' },
    ]);
  });

  test('one that is too long ends the input', async () => {
    const lines = await read(
      `${user('one')}\n`,
      ...Array.from({ length: 33 }, () => Buffer.alloc(1 << 20, 97)),
      `\n${user('x')}\n`,
    );
    expect(lines).toEqual([
      { number: 1, prompt: 'one' },
      { number: 2, problem: 'it is longer than 32 MiB: nothing more is read' },
    ]);
  });
});
