import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { WatchLimits } from '../connection-watch.ts';
import type { ModelDelta, ModelProvider, ModelResponse } from '../provider.ts';
import { anthropicProvider } from './anthropic.ts';

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function serve(handler: Handler, path = '', watch: Partial<WatchLimits> = {}): Promise<ModelProvider> {
  const server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => handler(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const provider = anthropicProvider({
    baseUrl: new URL(`http://127.0.0.1:${port}${path}`),
    apiKey: 'key-1',
    env: {},
    watch,
  });
  closers.push(() => {
    provider.close();
    server.closeAllConnections();
    server.close();
  });
  return provider;
}

const sse = (...events: object[]): string =>
  events
    .map((event) => `event: ${'type' in event ? event.type : ''}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');

const HELLO = sse(
  {
    type: 'message_start',
    message: { id: 'msg_1', model: 'm', usage: { input_tokens: 3, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Grüße 🌳' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } },
  { type: 'message_stop' },
);

const STREAM = { 'content-type': 'text/event-stream; charset=utf-8' };

function ask(
  provider: ModelProvider,
  options: { signal?: AbortSignal; onDelta?: (delta: ModelDelta) => void } = {},
): Promise<ModelResponse> {
  return provider.send(
    { model: 'm', body: Buffer.from('{"model":"m"}') },
    { signal: options.signal ?? new AbortController().signal, onDelta: options.onDelta ?? (() => {}) },
  );
}

describe('MODEL-1: the anthropic provider speaks HTTP and server-sent events', () => {
  test('it posts the bytes as they are, with key and version, below the base path', async () => {
    const seen: Record<string, unknown> = {};
    const provider = await serve((request, response, body) => {
      Object.assign(seen, { url: request.url, method: request.method, body, ...request.headers });
      response.writeHead(200, { ...STREAM, 'anthropic-ratelimit-requests-remaining': '9' }).end(HELLO);
    }, '/gateway/');
    const answer = await ask(provider);
    expect(seen).toMatchObject({
      url: '/gateway/v1/messages',
      method: 'POST',
      body: '{"model":"m"}',
      'x-api-key': 'key-1',
      'anthropic-version': '2026-10-21',
    });
    expect(answer).toMatchObject({
      stopReason: 'end_turn',
      usage: { input_tokens: 3, output_tokens: 4 },
      rate: { 'requests-remaining': '9' },
    });
    expect(answer.blocks[0]?.json).toBe('{"type":"text","text":"Grüße 🌳"}');
  });

  test('bytes may be split anywhere, within an event or a character', async () => {
    const provider = await serve((_, response) => {
      response.writeHead(200, STREAM);
      for (const byte of Buffer.from(HELLO)) response.write(Buffer.from([byte]));
      response.end();
    });
    expect((await ask(provider)).blocks[0]?.value).toEqual({ type: 'text', text: 'Grüße 🌳' });
  });

  test('the connection is used again for the next request', async () => {
    const sockets = new Set<unknown>();
    const provider = await serve((request, response) => {
      sockets.add(request.socket);
      response.writeHead(200, STREAM).end(HELLO);
    });
    for (let i = 0; i < 3; i++) await ask(provider);
    expect(sockets.size).toBe(1);
  });

  test('a kept connection that the server has closed is replaced without counting as a failure', async () => {
    let requests = 0;
    const provider = await serve((request, response) => {
      requests += 1;
      if (requests === 2) request.socket.resetAndDestroy();
      else response.writeHead(200, STREAM).end(HELLO);
    });
    await ask(provider);
    await ask(provider);
    expect(requests).toBe(3);
  });
});

describe('MODEL-2: every way an answer can go wrong has a name', () => {
  test('an error answer becomes its error', async () => {
    const provider = await serve((_, response) => {
      response.writeHead(529, { 'retry-after': '3' });
      response.end('{"type":"error","error":{"type":"overloaded_error","message":"busy"}}');
    });
    await expect(ask(provider)).rejects.toMatchObject({
      code: 'overloaded_error',
      family: 'retryable',
      retryAfterMs: 3_000,
    });
  });

  test.each([
    ['in text', HELLO.slice(0, HELLO.indexOf('content_block_stop'))],
    ['before message_stop', HELLO.slice(0, HELLO.lastIndexOf('event: message_stop'))],
    ['at once', ''],
  ])('a stream that ends %s is broken', async (_, part) => {
    const provider = await serve((_request, response) => void response.writeHead(200, STREAM).end(part));
    await expect(ask(provider)).rejects.toMatchObject({ code: 'stream_cut', family: 'retryable' });
  });

  test('MODEL-3: a stream that breaks tells what was counted by then', async () => {
    const part = HELLO.slice(0, HELLO.indexOf('event: content_block_stop'));
    const provider = await serve((_request, response) => void response.writeHead(200, STREAM).end(part));
    await expect(ask(provider)).rejects.toMatchObject({
      usage: { input_tokens: 3, output_tokens: 2, estimated: true },
    });
    // The count comes with the end.
    const whole = HELLO.slice(0, HELLO.lastIndexOf('event: message_stop'));
    const counted = await serve((_request, response) => void response.writeHead(200, STREAM).end(whole));
    const error = await ask(counted).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ usage: { input_tokens: 3, output_tokens: 4 } });
    expect(error).not.toHaveProperty('usage.estimated');
  });

  test('MODEL-3: an answer that is stopped tells what was counted by then', async () => {
    const part = HELLO.slice(0, HELLO.indexOf('event: content_block_stop'));
    const provider = await serve((_request, response) => void response.writeHead(200, STREAM).write(part));
    const stop = new AbortController();
    const stopped = ask(provider, {
      signal: stop.signal,
      onDelta: ({ type }) => {
        if (type === 'text') stop.abort();
      },
    });
    await expect(stopped).rejects.toMatchObject({
      family: 'cancelled',
      usage: { input_tokens: 3, estimated: true },
    });
  });

  test('a stream that is reset is a lost connection', async () => {
    const provider = await serve((request, response) => {
      response.writeHead(200, STREAM).write(HELLO.slice(0, 300));
      setTimeout(() => request.socket.resetAndDestroy(), 20);
    });
    await expect(ask(provider)).rejects.toMatchObject({ code: 'connection', family: 'retryable' });
  });

  test.each([
    ['malformed JSON', 'event: message_start\ndata: {"type": "message_st\n\n'],
    ['JSON that is no event', 'data: 12\n\n'],
  ])('%s in an event is a broken stream', async (_, part) => {
    const provider = await serve((_request, response) => void response.writeHead(200, STREAM).end(part));
    await expect(ask(provider)).rejects.toMatchObject({ code: 'stream_broken', family: 'retryable' });
  });

  test('an answer that is no event stream says what it is', async () => {
    const provider = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
    });
    await expect(ask(provider)).rejects.toMatchObject({
      code: 'wrong_content_type',
      family: 'terminal',
      message: expect.stringContaining('text/html'),
    });
  });

  test('a provider that is down cannot be reached', async () => {
    const provider = anthropicProvider({ baseUrl: new URL('http://127.0.0.1:1'), env: {} });
    await expect(ask(provider)).rejects.toMatchObject({
      code: 'connection',
      family: 'retryable',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  test.each(['before the answer', 'in mid-stream'])('an abort %s cancels', async (moment) => {
    const controller = new AbortController();
    const provider = await serve((_, response) => {
      if (moment === 'in mid-stream') response.writeHead(200, STREAM).write(HELLO.slice(0, 400));
      else setTimeout(() => controller.abort('SIGINT'), 10);
    });
    const answer = ask(provider, { signal: controller.signal, onDelta: () => controller.abort('SIGINT') });
    await expect(answer).rejects.toMatchObject({ family: 'cancelled' });
  });
});

describe('FORK-7: a prompt is read again without an answer', () => {
  const refresh = (provider: ModelProvider): Promise<ModelResponse> | undefined =>
    provider.refresh?.({ model: 'm', body: Buffer.from('{}') }, { signal: new AbortController().signal });
  const JSON_TYPE = { 'content-type': 'application/json' };

  test('one document comes back, with what it cost', async () => {
    const usage = { input_tokens: 2, output_tokens: 0, cache_read_input_tokens: 9 };
    const document = { id: 'msg_1', model: 'm', content: [], stop_reason: 'max_tokens', usage };
    const provider = await serve((_, response) => {
      response.writeHead(200, JSON_TYPE).end(JSON.stringify(document));
    });
    expect(await refresh(provider)).toMatchObject({
      id: 'msg_1',
      stopReason: 'max_tokens',
      blocks: [],
      usage: { input_tokens: 2, output_tokens: 0, cache_read_input_tokens: 9 },
    });
  });

  test.each<[string, number, Record<string, string>, string, string]>([
    ['a stream', 200, STREAM, HELLO, 'wrong_content_type'],
    ['half a document', 200, JSON_TYPE, '{"id":', 'stream_broken'],
    ['an error', 529, JSON_TYPE, '{}', 'http_529'],
  ])('%s is a failure', async (_title, status, headers, body, code) => {
    const provider = await serve((_, response) => void response.writeHead(status, headers).end(body));
    await expect(refresh(provider)).rejects.toMatchObject({ code });
  });
});

describe('MODEL-2: a stream that nothing comes of', () => {
  const [START = ''] = HELLO.split(/(?<=\n\n)/);

  /** Sends the start and then the same piece again and again. */
  function repeating(piece: string, everyMs: number): Handler {
    return (_request, response) => {
      response.writeHead(200, STREAM);
      response.write(START);
      const timer = setInterval(() => response.write(piece), everyMs);
      response.once('close', () => clearInterval(timer));
    };
  }

  test('silence in the middle is told as such, with what was billed', async () => {
    const provider = await serve(
      (_request, response) => {
        response.writeHead(200, STREAM);
        response.write(START);
      },
      '',
      { silentMs: 60 },
    );
    await expect(ask(provider)).rejects.toMatchObject({
      code: 'timeout',
      family: 'retryable',
      message: expect.stringContaining('sent nothing for 0.06 s'),
      usage: { input_tokens: 3 },
    });
  });

  test.each([
    ['pings', sse({ type: 'ping' })],
    ['single bytes', ':'],
  ])('%s without end are a stall', async (_name, piece) => {
    const provider = await serve(repeating(piece, 5), '', { silentMs: 10_000, stalledMs: 80 });
    await expect(ask(provider)).rejects.toMatchObject({
      code: 'stalled',
      family: 'retryable',
      message: expect.stringContaining('no content for 0.08 s'),
    });
  });

  test('an answer without end is cut off, and says so', async () => {
    const piece = 'x'.repeat(1_000_000);
    const provider = await serve((_request, response) => {
      response.writeHead(200, STREAM);
      response.write(`${START}data: `);
      const write = (): void => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', write);
      write();
    });
    await expect(ask(provider)).rejects.toMatchObject({
      code: 'response_too_large',
      family: 'terminal',
      message: 'the response was cut off at 64 MB: no model writes that much in one answer',
    });
  });
});
