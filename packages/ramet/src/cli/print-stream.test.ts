import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { runProgram } from './program.ts';

const user = (content: unknown): string =>
  JSON.stringify({ type: 'user', message: { role: 'user', content } });
const write = (name: string): string => user(`~~~write ${name}\nx\n~~~`);
const FLAGS =
  '-p --model recipe --permission-mode acceptEdits --input-format stream-json --output-format stream-json';

/** Each prompt has a result. */
const REFUSED = { type: 'result', subtype: 'error_during_execution', is_error: true, num_turns: 0 };

type Streamed = Record<'cwd' | 'notes', string> & { code: number; told: unknown[] };

function stream(...lines: string[]): Promise<Streamed> {
  return streamOf(inputOf(lines));
}

const inputOf = (lines: readonly string[]): Readable => Readable.from([`${lines.join('\n')}\n`]);

async function streamOf(
  input: Readable,
  hear: (line: Record<string, unknown>) => void = () => {},
  flags: readonly string[] = FLAGS.split(' '),
): Promise<Streamed> {
  const cwd = temporaryDirectory();
  let [out, notes] = ['', ''];
  const code = await runProgram([...flags], {
    out: (text) => {
      out += text;
      hear(JSON.parse(text));
    },
    ...{ isTerminal: false, columns: null, progress: () => {} },
    note: (line) => {
      notes += `${line}\n`;
    },
    piped: () => input,
    env: { PATH: process.env.PATH, HOME: cwd, RAMET_HOME: join(cwd, 'state') },
    ...{ cwd, signal: new AbortController().signal },
  });
  const told = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(
      ({ type, subtype }) => ['result', 'control_response'].includes(type) || subtype === 'input_error',
    );
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
    const { code, told, notes, cwd } = await stream(user([image]), user('/nope x'), '{', write('a.txt'));
    expect(told).toMatchObject([
      { line: 1, error: expect.stringContaining('part 1 of the prompt is refused') },
      { ...REFUSED, result: expect.stringContaining('part 1 of the prompt is refused') },
      { line: 2, error: expect.stringContaining('there is no skill or command /nope') },
      { ...REFUSED, result: expect.stringContaining('there is no skill or command /nope') },
      { line: 3, error: expect.stringContaining('it is no JSON') },
      { type: 'result', is_error: false },
    ]);
    expect(notes).toContain('line 2 of standard input: there is no skill or command /nope');
    expect(existsSync(join(cwd, 'a.txt'))).toBe(true);
    expect(code).toBe(2);
  });

  test('after one of the command line that is refused', async () => {
    const { code, told, notes, cwd } = await streamOf(inputOf([write('a.txt')]), undefined, [
      ...FLAGS.split(' '),
      '/nope x',
    ]);
    expect(told).toMatchObject([REFUSED, { type: 'result', is_error: false }]);
    expect(notes).toContain('there is no skill or command /nope');
    expect(existsSync(join(cwd, 'a.txt'))).toBe(true);
    expect(code).toBe(2);
  });
});

const control = (id: string, subtype: string, fields: object = {}): string =>
  JSON.stringify({ type: 'control_request', request_id: id, request: { subtype, ...fields } });
const success = (id: string, response: object): object => ({
  type: 'control_response',
  response: { subtype: 'success', request_id: id, response },
});
const refused = (id: string, error: unknown): object => ({
  type: 'control_response',
  response: { subtype: 'error', request_id: id, error },
});

describe('UI-4: control requests on standard input', () => {
  test('are answered with their ids, also those that are unknown or refused', async () => {
    const { code, told } = await stream(
      control('a', 'initialize', { hooks: {}, systemPrompt: [''] }),
      control('b', 'initialize', { agents: { x: {} } }),
      control('c', 'set_permission_mode', { mode: 'plan' }),
      control('d', 'set_permission_mode', { mode: 'all' }),
      control('e', 'interrupt'),
      control('f', 'mcp_message'),
      control('k', 'mcp_status'),
      control('l', 'get_context_usage'),
      control('m', 'stop_task', { task_id: 'nobody' }),
      control('j', 'set_permission_mode'),
      control('g', 'set_model', { model: 5 }),
      control('h', 'set_model'),
      control('i', 'set_model', { model: '' }),
    );
    expect(told).toMatchObject([
      success('a', { model: 'recipe', permission_mode: 'acceptEdits' }),
      refused('b', 'agents is not taken here: give --agents'),
      success('c', { mode: 'plan' }),
      refused('d', expect.stringContaining('there is no permission mode "all"; there are default,')),
      success('e', { interrupted: false }),
      refused(
        'f',
        'there is no control request "mcp_message"; there are initialize, interrupt, set_permission_mode, set_model, mcp_status, get_context_usage, stop_task',
      ),
      success('k', { mcpServers: [] }),
      success('l', { totalTokens: expect.any(Number), categories: expect.any(Array) }),
      refused('m', 'stop_task: no agent "nobody" is at work'),
      refused('j', 'set_permission_mode: mode is missing; give a text that is not empty'),
      refused('g', 'set_model: model is 5; give a text that is not empty'),
      success('h', { model: 'recipe' }),
      refused('i', 'set_model: model is ""; give a text that is not empty'),
    ]);
    expect(code).toBe(0);
  });

  test('an interrupt ends the run under way, and the prompts after it are carried out', async () => {
    const lines = new PassThrough();
    lines.write(`${user('~~~sh\nsleep 60\n~~~')}\n`);
    const { code, told, cwd } = await streamOf(lines, (line) => {
      if (lines.writableEnded || line.type !== 'assistant') return;
      lines.end(`${control('a', 'interrupt')}\n${write('after.txt')}\n`);
    });
    expect(told).toMatchObject([
      success('a', { interrupted: true }),
      { type: 'result', is_error: true },
      { type: 'result', is_error: false },
    ]);
    expect(existsSync(join(cwd, 'after.txt'))).toBe(true);
    expect(code).toBe(0);
  });

  test('a model is changed after the prompts that came before it', async () => {
    const { told } = await stream(write('a.txt'), control('a', 'set_model'), write('b.txt'));
    expect(told).toMatchObject([
      { type: 'result', is_error: false },
      success('a', { model: 'recipe' }),
      { type: 'result', is_error: false },
    ]);
  });
});

describe('UI-4: --replay-user-messages', () => {
  test('repeats each message before its run, with the id that it came with', async () => {
    const told: Record<string, unknown>[] = [];
    const message = { role: 'user', content: [{ type: 'text', text: 'one' }] };
    const lines = [JSON.stringify({ type: 'user', uuid: 'u-1', message }), user('two'), '{"type":"user"}'];
    await streamOf(
      inputOf(lines),
      (line) => void told.push(line),
      `${FLAGS} --verbose --replay-user-messages`.split(' '),
    );
    const shown = told.filter(({ type, isReplay }) => type === 'result' || isReplay === true);
    expect(shown).toMatchObject([
      { type: 'user', message, uuid: 'u-1', isReplay: true, parent_tool_use_id: null },
      { type: 'result' },
      { type: 'user', message: { role: 'user', content: 'two' }, isReplay: true },
      { type: 'result' },
    ]);
    expect(shown[2]).not.toHaveProperty('uuid');
    expect(told.map(({ session_id }) => session_id)).toEqual(told.map(() => told[0]?.session_id));
  });
});
