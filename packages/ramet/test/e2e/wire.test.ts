/** Against a server that is not our emulator: plain HTTP, the events as a provider may send them. */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { setImmediate as nextTick } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { API_KEY, test, type User } from '../fixtures/user.ts';

interface Received {
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Serves until the returned object is disposed of, and points the user at it. */
async function serve(user: User, answer: (response: ServerResponse, index: number) => unknown) {
  const received: Received[] = [];
  const server: Server = createServer(async (request, response) => {
    const body = await readAll(request);
    received.push({ url: request.url ?? '', headers: request.headers, body });
    await answer(response, received.length - 1);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo; // listens on TCP
  user.env.ANTHROPIC_BASE_URL = `http://127.0.0.1:${port}`;
  return {
    received,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function stream(...events: { type: string; [field: string]: unknown }[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

const START = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-5',
    content: [],
    usage: { input_tokens: 7, output_tokens: 1 },
  },
};
const END = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
];

function saying(text: string): string {
  return stream(
    START,
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'ping' },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'something_new', field: 1 },
    { type: 'content_block_stop', index: 0 },
    ...END,
  );
}

function calling(json: string): string {
  return stream(
    START,
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'Read', input: {} },
    },
    ...[...json].map((piece) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: piece },
    })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  );
}

const SSE = { 'content-type': 'text/event-stream; charset=utf-8' };

describe.concurrent('MODEL-1: what goes over the wire', () => {
  test('the key, the version, the length and one JSON body', async ({ user }) => {
    using server = await serve(user, (response) => response.writeHead(200, SSE).end(saying('ok')));
    await user.ramet(['-p', 'Grüße'], {
      env: { ANTHROPIC_BASE_URL: `${user.env.ANTHROPIC_BASE_URL}/prefix/` },
    });
    const [request] = server.received;
    expect(request?.url).toBe('/prefix/v1/messages');
    expect(request?.headers).toMatchObject({
      'x-api-key': API_KEY,
      'anthropic-version': expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(request?.body ?? '')),
    });
    expect(request?.headers).not.toHaveProperty('authorization');
    expect(JSON.parse(request?.body ?? '')).toMatchObject({ model: 'claude-sonnet-5', stream: true });
  });

  test('a bearer token instead of a key, and neither without credentials', async ({ user }) => {
    using server = await serve(user, (response) => response.writeHead(200, SSE).end(saying('ok')));
    await user.here(['-p', 'x'], { env: { ANTHROPIC_API_KEY: '', ANTHROPIC_AUTH_TOKEN: 'token-1' } });
    await user.here(['-p', 'x'], { env: { ANTHROPIC_API_KEY: undefined } });
    expect(server.received.map(({ headers }) => [headers['x-api-key'], headers.authorization])).toEqual([
      [undefined, 'Bearer token-1'],
      [undefined, undefined],
    ]);
  });

  test('a server on this machine is spoken to directly, whatever the proxy', async ({ user }) => {
    using server = await serve(user, (response) => response.writeHead(200, SSE).end(saying('ok')));
    const proxy = 'http://127.0.0.1:1';
    const end = await user.here(['-p', 'x'], {
      env: { HTTP_PROXY: proxy, http_proxy: proxy, HTTPS_PROXY: proxy },
    });
    expect(end.code).toBe(0);
    expect(server.received).toHaveLength(1);
  });
});

describe.concurrent('MODEL-2: streams as providers may send them', () => {
  test('one byte at a time, in CRLF, with comments, pings and events of unknown kinds', async ({ user }) => {
    const text = 'Grüße \u{1F600} – “fine”';
    const bytes = Buffer.from(`: hello\r\n\r\n${saying(text).replaceAll('\n', '\r\n')}`);
    using _ = await serve(user, async (response) => {
      response.writeHead(200, SSE);
      for (const byte of bytes) {
        response.write(Buffer.from([byte]));
        await nextTick();
      }
      response.end();
    });
    const end = await user.here(['-p', 'x', '--output-format', 'json']);
    expect(end).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(end.stdout)).toMatchObject({
      result: text,
      usage: {
        input_tokens: 7,
        output_tokens: 9,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
      },
      total_cost_usd: expect.closeTo((7 * 2 + 9 * 10) / 1e6, 12),
    });
  });

  test('tool input in single letters, sent back as the same JSON', async ({ user }) => {
    const input = '{"file_path":"README.md", "offset":1,"limit": 2.0e0}';
    using server = await serve(user, (response, index) =>
      response.writeHead(200, SSE).end(index === 0 ? calling(input) : saying('ok')),
    );
    const end = await user.here(['-p', 'x']);
    expect(end).toEqual({ code: 0, stdout: 'ok\n', stderr: '' });
    const [, answer, results] = JSON.parse(server.received[1]?.body ?? '').messages;
    expect(answer.content).toMatchObject([{ type: 'tool_use', id: 'toolu_1', input: JSON.parse(input) }]);
    expect(results.content[0]).toMatchObject({
      tool_use_id: 'toolu_1',
      content: expect.stringContaining('# Test'),
    });
  });

  test('a connection closed after each answer', async ({ user }) => {
    using server = await serve(user, (response, index) => {
      response.writeHead(200, { ...SSE, connection: index === 0 ? 'keep-alive' : 'close' });
      // Closed without a word although it was to be kept: the next request finds it out.
      response.end(index === 0 ? calling('{"file_path":"README.md"}') : saying('ok'), () =>
        response.socket?.destroySoon(),
      );
    });
    const end = await user.here(['-p', 'x']);
    expect(end).toEqual({ code: 0, stdout: 'ok\n', stderr: '' });
    expect(server.received).toHaveLength(2);
  });

  test('usage that is missing makes the cost unknown, not zero', async ({ user }) => {
    const start = { ...START, message: { ...START.message, usage: undefined } };
    const body = stream(
      start,
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'ok' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      { type: 'message_stop' },
    );
    using _ = await serve(user, (response) => response.writeHead(200, SSE).end(body));
    const end = await user.here(['-p', 'x', '--output-format', 'json']);
    expect(JSON.parse(end.stdout)).toMatchObject({ result: 'ok', total_cost_usd: null });
  });
});
