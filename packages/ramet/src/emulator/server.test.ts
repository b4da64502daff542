import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { afterEach, describe, expect } from 'vitest';
import { bodyOf, parseEvents, post } from '../../test/fixtures/emulator-client.ts';
import { test } from '../../test/fixtures/temporary-directory.ts';
import { UserMistake } from '../schema/errors.ts';
import type { EmulatorOptions } from './emulator-state.ts';
import { type Emulator, startEmulator } from './server.ts';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const release of open.splice(0).reverse()) await release();
});

const hello = { rules: [{ respond: { text: 'Hello there' } }] };

async function start(options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = await startEmulator({ scenario: hello, ...options });
  open.push(() => emulator.close());
  return emulator;
}

function sdk(emulator: Emulator): Anthropic {
  return new Anthropic({ baseURL: emulator.url, apiKey: 'key', maxRetries: 0 });
}

describe('EMU-4: what is not understood', () => {
  test.each<[unknown, RegExp]>([
    [{ respnd: () => undefined }, /^startEmulator: Unrecognized key: "respnd"$/],
    [{ respond: 5 }, /^startEmulator: respond: expected a function$/],
    [new Map(), /^startEmulator: its options are a plain object$/],
    [{ scenario: 5 }, /^startEmulator: scenario: Invalid input: expected object/],
    [{ scenario: { rules: [{ mach: {} }] } }, /^startEmulator: scenario.rules.0: .*"mach"/],
    [{ port: '80' }, /^startEmulator: port: /],
    [null, /^startEmulator: Invalid input: expected object/],
  ])('startEmulator refuses %j', async (options, reason) => {
    await expect(startEmulator(options as never)).rejects.toThrow(reason);
  });

  test('an answer of the hook is refused, and says what it has', async () => {
    await using emulator = await startEmulator({ respond: () => ({ txt: 'x' }) as never });
    const response = await fetch(`${emulator.url}/v1/messages`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }),
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
    });
    expect(await response.text()).toMatch(/the respond hook gave no answer: Unrecognized key: ..?"txt/);
  });
});

describe('EMU-1: the official SDK is served', () => {
  const scenario = {
    rules: [
      {
        match: { turn: 0 },
        respond: {
          thinking: 'hm',
          text: 'Reading',
          tool_use: [{ name: 'Read', input: { file_path: '/a' } }],
        },
      },
      { respond: { text: 'You got: {{last}}' } },
    ],
  };
  const ask = {
    model: 'claude-opus-5',
    max_tokens: 50,
    messages: [{ role: 'user' as const, content: 'go' }],
  };

  test('streaming and not give the same message', async () => {
    const client = sdk(await start({ scenario }));
    const streamed = await client.messages.stream(ask).finalMessage();
    const whole = await client.messages.create(ask);
    expect(streamed.content).toMatchObject([
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'Reading' },
      { type: 'tool_use', name: 'Read', input: { file_path: '/a' } },
    ]);
    expect(streamed.stop_reason).toBe('tool_use');
    expect(whole.usage).toEqual(streamed.usage);
    const idless = (content: unknown) =>
      JSON.parse(JSON.stringify(content, (key, value) => (key === 'id' ? '' : value)));
    expect(idless(whole.content)).toEqual(idless(streamed.content));
  });

  test('a tool loop can be carried on with what came back', async () => {
    const client = sdk(await start({ scenario }));
    const first = await client.messages.stream(ask).finalMessage();
    const call = first.content.find((block) => block.type === 'tool_use');
    const second = await client.messages.create({
      ...ask,
      messages: [
        ...ask.messages,
        { role: 'assistant', content: first.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content: 'A!' }] },
      ],
    });
    expect(second.content).toMatchObject([{ type: 'text', text: 'You got: A!' }]);
    expect(second.stop_reason).toBe('end_turn');
  });

  test('tokens are counted and models are listed', async () => {
    const client = sdk(await start());
    const { input_tokens } = await client.messages.countTokens({ model: 'm', messages: ask.messages });
    expect(input_tokens).toBe(Math.floor('{"type":"text","text":"go"}'.length / 4));
    const models = [];
    for await (const model of client.models.list()) models.push(model.id);
    expect(models).toContain('claude-sonnet-5');
  });
});

describe('EMU-1: HTTP', () => {
  test('every response carries a request id, and events come as text/event-stream', async () => {
    const response = await post(await start(), { stream: true });
    expect(response.headers.get('request-id')).toMatch(/^req_/);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(parseEvents(await response.text()).map(({ type }) => type)).toContain('message_stop');
  });

  test.each([
    ['GET', '/v1/messages'],
    ['POST', '/v1/complete'],
    ['GET', '/'],
  ])('%s %s is a 404 in the form of the API', async (method, path) => {
    const emulator = await start();
    const response = await fetch(`${emulator.url}${path}`, { method, headers: { 'anthropic-version': 'x' } });
    expect(response.status).toBe(404);
    expect(await bodyOf(response)).toEqual({
      type: 'error',
      error: { type: 'not_found_error', message: `${method} ${path}: Not found` },
      request_id: response.headers.get('request-id'),
    });
  });

  test.each<[string, EmulatorOptions, Record<string, string>, number, string]>([
    ['no key', { requireKey: 'right' }, { 'x-api-key': '' }, 401, 'authentication_error'],
    ['a wrong key', { requireKey: 'right' }, {}, 401, 'authentication_error'],
    ['the key', { requireKey: 'key' }, {}, 200, ''],
    [
      'the key as a bearer token',
      { requireKey: 't' },
      { 'x-api-key': '', authorization: 'Bearer t' },
      200,
      '',
    ],
    ['an unknown model', { unknownModels: ['claude-sonnet-5'] }, {}, 404, 'not_found_error'],
    ['too long a body', { maxBodyBytes: 20 }, {}, 413, 'request_too_large'],
  ])('a request with %s is answered with its status', async (_, options, headers, status, type) => {
    const response = await post(await start(options), {}, { headers });
    expect(response.status).toBe(status);
    const body = (await bodyOf(response)) as { error?: { type: string } };
    expect(body.error?.type ?? '').toBe(type);
  });

  test('SEC-1: a request under another name than loopback, or of a page of another site, is refused', async () => {
    const { port } = await start();
    const status = (host: string, origin?: string): Promise<number | undefined> =>
      new Promise((settle, fail) => {
        const options = {
          port,
          host: '127.0.0.1',
          path: '/v1/models',
          headers: { host, 'x-api-key': 'k', 'anthropic-version': '2023-06-01', ...(origin && { origin }) },
        };
        httpRequest(options, (answer) => settle(answer.resume().statusCode))
          .on('error', fail)
          .end();
      });
    for (const host of [`127.0.0.1:${port}`, 'localhost', `[::1]:${port}`])
      expect(await status(host)).toBe(200);
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      '127.0.0.1.evil.example',
      'localhost.evil.example',
    ]) {
      expect(await status(host)).toBe(403);
    }
    for (const origin of ['http://localhost:3000', 'https://127.0.0.1', 'http://[::1]:80'])
      expect(await status('localhost', origin)).toBe(200);
    for (const origin of ['https://evil.example', 'http://localhost.evil.example', 'null'])
      expect(await status('localhost', origin)).toBe(403);
  });

  test('the version header is required', async () => {
    const emulator = await start();
    const response = await fetch(`${emulator.url}/v1/models`);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('anthropic-version');
  });

  test('a body that is not UTF-8 or not JSON is refused', async () => {
    const emulator = await start();
    for (const body of [new Uint8Array([0xff, 0xfe]), '{"model"']) {
      const response = await fetch(`${emulator.url}/v1/messages`, {
        method: 'POST',
        headers: { 'anthropic-version': 'x' },
        body,
      });
      expect(response.status).toBe(400);
    }
    expect(emulator.requests.map(({ outcome }) => outcome)).toEqual(['refused', 'refused']);
  });

  test('rate-limit headers come when asked for, without what the cache gave', async () => {
    const limits = { requests: 10, inputTokens: 100_000, outputTokens: 50_000 };
    const emulator = await start({ rateLimits: limits });
    const fields = { system: 's'.repeat(40_000), cache_control: { type: 'ephemeral' } };
    const first = await post(emulator, fields);
    const second = await post(emulator, fields);
    expect(first.headers.get('anthropic-ratelimit-requests-limit')).toBe('10');
    expect(second.headers.get('anthropic-ratelimit-requests-remaining')).toBe('8');
    expect(first.headers.get('anthropic-ratelimit-input-tokens-remaining')).toBe('90000');
    expect(second.headers.get('anthropic-ratelimit-input-tokens-remaining')).toBe('90000');
    expect(Date.parse(first.headers.get('anthropic-ratelimit-requests-reset') ?? '')).toBeGreaterThan(
      Date.now(),
    );
    expect((await post(await start(), {})).headers.get('anthropic-ratelimit-requests-limit')).toBeNull();
  });
});

describe('EMU-1: what was asked is kept', () => {
  test('records hold the exact body and no key', async () => {
    const emulator = await start();
    await post(emulator, { system: 'ünï' }, { headers: { authorization: 'Bearer secret' } });
    const [record] = emulator.requests;
    expect(record).toMatchObject({
      method: 'POST',
      path: '/v1/messages',
      status: 200,
      outcome: 'answered',
      rule: 1,
      headers: { 'x-api-key': '***', authorization: '***', 'anthropic-version': '2026-10-21' },
    });
    expect(record?.body).toContain('"system":"ünï"');
    expect(record?.usage?.input_tokens).toBeGreaterThan(0);
  });

  test('the log has one line a request with its body verbatim, and is appended to', async ({ directory }) => {
    const log = join(directory, 'requests.jsonl');
    for (const text of ['one', 'two']) {
      const emulator = await startEmulator({ scenario: hello, log });
      await (await post(emulator, { messages: [{ role: 'user', content: text }] })).text();
      await emulator.close();
    }
    const lines = readFileSync(log, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ path, status }) => [path, status])).toEqual(Array(2).fill(['/v1/messages', 200]));
    expect(lines.map(({ body }) => JSON.parse(body).messages[0].content)).toEqual(['one', 'two']);
    expect(lines[0].usage.output_tokens).toBeGreaterThan(0);
  });

  test('a log that cannot be written is a mistake of the user', async ({ directory }) => {
    const log = join(directory, 'missing', 'x');
    await expect(startEmulator({ log })).rejects.toThrow(UserMistake);
  });

  test('nothing is kept when told so', async () => {
    const emulator = await start({ keepRequests: false });
    await post(emulator, {});
    expect(emulator.requests).toEqual([]);
  });
});

describe('EMU-1: starting and stopping', () => {
  test('a port in use is one clear line', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    open.push(() => other.close());
    const { port } = other.address() as { port: number }; // listening on TCP
    await expect(startEmulator({ port })).rejects.toThrow(`port ${port} on 127.0.0.1 is in use`);
  });

  test('closing ends a stalled connection at once, and closing twice is fine', async () => {
    const emulator = await start({ fault: () => ({ kind: 'stall', at: 'headers' }) });
    const answer = post(emulator, {}).catch((error) => error);
    while (emulator.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await emulator.close();
    await emulator.close();
    expect(await answer).toBeInstanceOf(Error);
  });

  test('a client that leaves while sending its body does no harm', async () => {
    const emulator = await start();
    const request = httpRequest(`${emulator.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-length': 99 },
    });
    const left = new Promise((resolve) => request.on('error', resolve));
    request.write('{');
    await new Promise((resolve) => setTimeout(resolve, 20));
    request.destroy(new Error('left'));
    await left;
    expect((await post(emulator, {})).status).toBe(200);
    expect(emulator.requests).toHaveLength(1);
  });
});
