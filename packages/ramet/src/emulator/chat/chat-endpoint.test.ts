import OpenAI from 'openai';
import { afterEach, describe, expect, test } from 'vitest';
import { bodyOf, type Fields, post, readAll } from '../../../test/fixtures/emulator-client.ts';
import { openaiProvider } from '../../model/openai/openai.ts';
import type { ModelResponse } from '../../model/provider.ts';
import type { EmulatorOptions } from '../emulator-state.ts';
import type { Fault } from '../fault.ts';
import { type Emulator, startEmulator } from '../server.ts';

let running: Emulator[] = [];
afterEach(async () => {
  await Promise.all(running.map((emulator) => emulator.close()));
  running = [];
});

async function start(options: EmulatorOptions): Promise<Emulator> {
  const emulator = await startEmulator(options);
  running.push(emulator);
  return emulator;
}

/** The official client, as a witness that the form is right. */
const clientOf = ({ url }: Emulator): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: 'k', maxRetries: 0 });
const chat = (emulator: Emulator, fields: Fields): Promise<Response> =>
  post(emulator, fields, { path: '/v1/chat/completions' });

const hello = { model: 'm', messages: [{ role: 'user' as const, content: 'hello' }] };
const calling = {
  text: 'Looking.',
  tool_use: [
    { name: 'Read', input: { file_path: 'a' } },
    { name: 'Bash', input: { command: 'ls' } },
  ],
};

describe('EMU-1: POST /v1/chat/completions', () => {
  test('a document has the text, the calls and the usage', async () => {
    const emulator = await start({ respond: () => calling });
    const completion = await clientOf(emulator).chat.completions.create(hello);
    const [choice] = completion.choices;
    expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: 'Looking.' } });
    expect(choice?.message.tool_calls).toMatchObject([
      { type: 'function', function: { name: 'Read', arguments: '{"file_path":"a"}' } },
      { type: 'function', function: { name: 'Bash', arguments: '{"command":"ls"}' } },
    ]);
    expect(completion.usage).toMatchObject({ prompt_tokens: 8, prompt_tokens_details: { cached_tokens: 0 } });
  });

  test('a stream gives the official client the same, and usage only when it is asked for', async () => {
    const emulator = await start({ respond: () => calling });
    const client = clientOf(emulator);
    const runner = client.chat.completions.stream({ ...hello, stream_options: { include_usage: true } });
    const completion = await runner.finalChatCompletion();
    expect(completion.choices[0]?.message).toMatchObject({
      content: 'Looking.',
      tool_calls: [{ function: { name: 'Read' } }, { function: { arguments: '{"command":"ls"}' } }],
    });
    expect(completion.usage?.completion_tokens).toBeGreaterThan(0);
    const { text } = await readAll(await chat(emulator, { ...hello, stream: true }));
    expect(text).not.toContain('usage');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('EMU-4: a scenario sees turns, tool results and the system prompt as in the Messages API', async () => {
    const emulator = await start({
      scenario: {
        rules: [
          { match: { turn: 0, marker: 'agent-7', last: 'hello' }, respond: calling },
          { match: { turn: 1, lastToolResult: 'two', last: 'Go on' }, respond: { text: '{{last}}' } },
        ],
      },
    });
    const client = clientOf(emulator);
    const opening = [{ role: 'system' as const, content: 'agent-7' }, ...hello.messages];
    const first = await client.chat.completions.create({ model: 'm', messages: opening });
    const said = first.choices[0]?.message;
    if (said === undefined) throw new Error('no answer');
    const results = (said.tool_calls ?? []).map(({ id }, index) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: ['one', 'two'][index] ?? '',
    }));
    const messages = [...opening, said, ...results, { role: 'user' as const, content: 'Go on.' }];
    const second = await client.chat.completions.create({ model: 'm', messages });
    expect(second.choices[0]?.message.content).toBe('one\ntwo\nGo on.');
    expect(emulator.requests.map(({ rule }) => rule)).toEqual([1, 2]);
  });

  test('EMU-4: a scenario knows a fork again whose rules and task came as one text', async () => {
    const match = { fork: true, task: '/^its task$/', turn: 0 };
    const emulator = await start({ scenario: { rules: [{ match, respond: { text: 'yes' } }] } });
    const call = { id: 'a', type: 'function', function: { name: 'Agent', arguments: '{}' } };
    const response = await chat(emulator, {
      model: 'm',
      messages: [
        { role: 'user', content: 'task of the parent' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'a', content: 'placeholder' },
        { role: 'user', content: 'rules\n\n<fork-task>\nits task\n</fork-task>' },
      ],
    });
    expect(await bodyOf(response)).toMatchObject({ choices: [{ message: { content: 'yes' } }] });
  });

  test('EMU-2: a prompt that was sent before is read from the cache, and usage says so', async () => {
    const emulator = await start({ respond: () => ({ text: 'ok' }) });
    const long = { model: 'm', messages: [{ role: 'user' as const, content: 'x'.repeat(8000) }] };
    const client = clientOf(emulator);
    const cached = [];
    for (let i = 0; i < 2; i += 1) {
      const { usage } = await client.chat.completions.create(long);
      cached.push([usage?.prompt_tokens, usage?.prompt_tokens_details?.cached_tokens]);
    }
    expect(cached).toEqual([
      [2007, 0],
      [2007, 1920],
    ]);
    expect(emulator.requests[1]?.usage).toMatchObject({ input_tokens: 87, cache_read_input_tokens: 1920 });
  });

  test.each<[string, Fields, RegExp]>([
    ['messages that are missing', { messages: undefined }, /messages/],
    ['a role that is none', { messages: [{ role: 'bot', content: 'x' }] }, /messages\.0\.role/],
    ['no content', { messages: [{ role: 'user' }] }, /messages\.0: content is required/],
    [
      'an answer to no call',
      { messages: [{ role: 'tool', tool_call_id: 'x', content: '' }] },
      /must be a response/,
    ],
    [
      'a call that is not answered',
      {
        messages: [
          {
            role: 'assistant',
            tool_calls: [{ id: 'a', type: 'function', function: { name: 'A', arguments: '{}' } }],
          },
          { role: 'user', content: 'x' },
        ],
      },
      /must be followed by tool messages .*missing: a/,
    ],
    ['stream options without a stream', { stream_options: { include_usage: true } }, /only allowed when/],
  ])('%s is refused in the form of this API', async (_, fields, message) => {
    const emulator = await start({ respond: () => ({ text: 'never' }) });
    const response = await chat(emulator, fields);
    expect(response.status).toBe(400);
    expect(await bodyOf(response)).toEqual({
      error: {
        message: expect.stringMatching(message),
        type: 'invalid_request_error',
        param: null,
        code: null,
      },
    });
  });

  test('a wrong key and an unknown model are refused, and a request that nothing answers is loud', async () => {
    const emulator = await start({ requireKey: 'right', unknownModels: ['none'] });
    await expect(clientOf(emulator).chat.completions.create(hello)).rejects.toMatchObject({
      status: 401,
      code: 'invalid_api_key',
    });
    const client = new OpenAI({ baseURL: `${emulator.url}/v1`, apiKey: 'right', maxRetries: 0 });
    await expect(client.chat.completions.create({ ...hello, model: 'none' })).rejects.toMatchObject({
      status: 404,
    });
    await expect(client.chat.completions.create(hello)).rejects.toThrow('no rule answers this request');
    expect(emulator.unmatched).toHaveLength(1);
  });
});

describe('EMU-3: faults reach the openai provider as what they are', () => {
  async function ask(fault: Fault | undefined): Promise<ModelResponse> {
    const emulator = await start({ respond: () => ({ thinking: 'hm', ...calling }), fault: () => fault });
    const provider = openaiProvider({ baseUrl: new URL(`${emulator.url}/v1`), apiKey: 'k', env: {} });
    const body = Buffer.from(JSON.stringify({ ...hello, max_tokens: 9 }));
    const signal = new AbortController().signal;
    return provider.send({ model: 'm', body }, { signal, onDelta: () => {} }).finally(() => provider.close());
  }

  test.each<[Fault, string, string]>([
    [{ kind: 'status', status: 503, retryAfter: 1 }, 'server_error', 'retryable'],
    [{ kind: 'status', status: 429, spendLimit: true }, 'spend_limit', 'terminal'],
    [{ kind: 'status', status: 401 }, 'invalid_request_error', 'terminal'],
    [{ kind: 'reset', at: 'headers' }, 'connection', 'retryable'],
    [{ kind: 'reset', at: 'start' }, 'connection', 'retryable'],
    [{ kind: 'reset', at: 'thinking' }, 'connection', 'retryable'],
    [{ kind: 'reset', at: 'tool_input' }, 'connection', 'retryable'],
    [{ kind: 'truncated_event' }, 'stream_cut', 'retryable'],
    [{ kind: 'malformed_event' }, 'stream_broken', 'retryable'],
    [{ kind: 'wrong_content_type' }, 'wrong_content_type', 'terminal'],
    [{ kind: 'stream_error' }, 'server_error', 'retryable'],
    [{ kind: 'stream_error', status: 400 }, 'invalid_request_error', 'terminal'],
  ])('%j', async (fault, code, family) => {
    await expect(ask(fault)).rejects.toMatchObject({ name: 'ModelError', code, family });
  });

  test.each<[string, Fault | undefined]>([
    ['nothing', undefined],
    ['a missing [DONE]', { kind: 'missing_stop' }],
    ['a pause', { kind: 'stall', at: 'tool_input', ms: 1 }],
  ])('%s does no harm', async (_, fault) => {
    const { blocks, stopReason, usage } = await ask(fault);
    expect(blocks.map(({ value }) => value.type)).toEqual(['text', 'tool_use', 'tool_use']);
    expect(stopReason).toBe('tool_use');
    expect(usage).toMatchObject({ input_tokens: 8, cache_read_input_tokens: 0 });
  });
});
