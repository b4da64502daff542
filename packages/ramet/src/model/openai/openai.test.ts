import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { ModelDelta, ModelProvider, ModelResponse } from '../provider.ts';
import { openaiProvider } from './openai.ts';

type Handler = (response: ServerResponse, body: string, request: IncomingMessage) => void;

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function serve(handler: Handler, path = '/v1', lingerMs?: number): Promise<ModelProvider> {
  const server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => handler(response, body, request));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a server listening on TCP always has one
  const baseUrl = new URL(`http://127.0.0.1:${port}${path}`);
  const provider = openaiProvider({ baseUrl, apiKey: 'key-1', env: {}, lingerMs });
  closers.push(() => {
    provider.close();
    server.closeAllConnections();
    server.close();
  });
  return provider;
}

const STREAM = { 'content-type': 'text/event-stream' };
const data = (...chunks: (object | string)[]): string =>
  chunks.map((chunk) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`).join('');
const chunk = (delta: object, finish: string | null = null): object => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  model: 'served',
  choices: [{ index: 0, delta, finish_reason: finish }],
});

const USAGE = { choices: [], usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } };
const HELLO = data(
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'Grüße 🌳' }),
  chunk({}, 'stop'),
  USAGE,
  '[DONE]',
);
const BODY = {
  model: 'm',
  system: [{ type: 'text', text: 's' }],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  max_tokens: 9,
  stream: true,
};

function ask(
  provider: ModelProvider,
  options: { signal?: AbortSignal; onDelta?: (delta: ModelDelta) => void; body?: object } = {},
): Promise<ModelResponse> {
  return provider.send(
    { model: 'm', body: Buffer.from(JSON.stringify(options.body ?? BODY)) },
    { signal: options.signal ?? new AbortController().signal, onDelta: options.onDelta ?? (() => {}) },
  );
}

const streaming = (text: string): Promise<ModelProvider> =>
  serve((response) => void response.writeHead(200, STREAM).end(text));

describe('MODEL-1: the openai provider speaks chat completions', () => {
  test('it posts the translated body with its key below the base path, and reads the stream', async () => {
    const seen: Record<string, unknown> = {};
    const provider = await serve((response, body, request) => {
      Object.assign(seen, { url: request.url, body: JSON.parse(body), ...request.headers });
      response.writeHead(200, { ...STREAM, 'x-ratelimit-remaining-requests': '9' }).end(HELLO);
    }, '/gateway/v1/');
    const answer = await ask(provider);
    expect(seen).toMatchObject({
      url: '/gateway/v1/chat/completions',
      authorization: 'Bearer key-1',
      body: { messages: [{ role: 'system' }, { role: 'user', content: 'hi' }], max_tokens: 9, stream: true },
    });
    expect(answer).toMatchObject({
      id: 'c1',
      model: 'served',
      stopReason: 'end_turn',
      usage: { input_tokens: 5, output_tokens: 2, cache_read_input_tokens: 0 },
      rate: { 'requests-remaining': '9' },
    });
    expect(answer.blocks.map(({ value }) => value)).toEqual([{ type: 'text', text: 'Grüße 🌳' }]);
  });

  test('bytes may be split anywhere, within an event or a character', async () => {
    const provider = await serve((response) => {
      response.writeHead(200, STREAM);
      for (const byte of Buffer.from(HELLO)) response.write(Buffer.from([byte]));
      response.end();
    });
    expect((await ask(provider)).blocks[0]?.value).toEqual({ type: 'text', text: 'Grüße 🌳' });
  });

  test('a missing [DONE] does no harm where the finish reason came', async () => {
    const provider = await streaming(HELLO.replace('data: [DONE]\n\n', ''));
    expect(await ask(provider)).toMatchObject({ stopReason: 'end_turn', usage: { input_tokens: 5 } });
  });

  test('a connection that stays open behind the finish reason is not waited for', async () => {
    const open: Handler = (response) =>
      void response.writeHead(200, STREAM).write(HELLO.replace('data: [DONE]\n\n', ''));
    const provider = await serve(open, '/v1', 1);
    expect(await ask(provider)).toMatchObject({ stopReason: 'end_turn', usage: { input_tokens: 5 } });
  });

  test('a server without usage leaves it unknown, one without a model name gets the one asked for', async () => {
    const provider = await streaming(data({ choices: [{ delta: { content: 'x' }, finish_reason: 'stop' }] }));
    expect(await ask(provider)).toMatchObject({ usage: null, model: 'm' });
  });

  test('a server that answers with a document instead of a stream is understood', async () => {
    const document = { id: 'd', choices: [{ message: { content: 'whole' }, finish_reason: 'stop' }] };
    const provider = await serve((response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
    });
    expect((await ask(provider)).blocks[0]?.value).toEqual({ type: 'text', text: 'whole' });
  });

  test('a field that a server refuses by name is left out or renamed, and that is remembered', async () => {
    const bodies: Record<string, unknown>[] = [];
    const provider = await serve((response, body) => {
      const sent = JSON.parse(body);
      bodies.push(sent);
      const refuse = (message: string): void =>
        void response
          .writeHead(400, { 'content-type': 'application/json' })
          .end(JSON.stringify({ error: { message } }));
      if ('stream_options' in sent) refuse('Unrecognized request argument supplied: stream_options');
      else if ('reasoning_effort' in sent) refuse('Unsupported parameter: reasoning_effort');
      else if ('max_tokens' in sent) refuse("Use 'max_completion_tokens' instead.");
      else response.writeHead(200, STREAM).end(HELLO);
    });
    const body = { ...BODY, output_config: { effort: 'high' } };
    await ask(provider, { body });
    await ask(provider, { body });
    expect(bodies).toHaveLength(5);
    expect(bodies[0]).toMatchObject({ reasoning_effort: 'high' });
    expect(bodies[4]).toMatchObject({ max_completion_tokens: 9 });
  });

  test('RES-9: one model that takes no effort takes it from no other, and says so once', async () => {
    const sent: [string, unknown][] = [];
    const provider = await serve((response, body) => {
      const { model, reasoning_effort } = JSON.parse(body);
      sent.push([model, reasoning_effort]);
      if (model === 'small' && reasoning_effort !== undefined)
        response
          .writeHead(400, { 'content-type': 'application/json' })
          .end('{"error":{"message":"reasoning_effort?"}}');
      else response.writeHead(200, STREAM).end(HELLO);
    });
    const said: string[] = [];
    const asking = {
      signal: new AbortController().signal,
      onDelta: () => {},
      onUnused: (text: string) => said.push(text),
    };
    for (const model of ['small', 'small', 'large']) {
      const body = Buffer.from(JSON.stringify({ ...BODY, model, output_config: { effort: 'high' } }));
      await provider.send({ model, body }, asking);
    }
    expect(sent).toEqual([
      ['small', 'high'],
      ['small', undefined],
      ['small', undefined],
      ['large', 'high'],
    ]);
    expect(said).toEqual([
      'the model small is served without reasoning_effort: effort and thinking have no effect on it',
    ]);
  });
});

describe('MODEL-2: every way an answer of a chat completions server can go wrong has a name', () => {
  test.each<[string, string, string, string]>([
    ['is empty', '', 'stream_cut', 'retryable'],
    ['is garbage', '\u0000\u0001 lorem ipsum\n\nfoo: bar\n\n', 'stream_cut', 'retryable'],
    [
      'has a chunk that is no JSON',
      data(chunk({ content: 'x' }), '{"choices":[{'),
      'stream_broken',
      'retryable',
    ],
    ['has a chunk that is no object', data('12', '[DONE]'), 'stream_broken', 'retryable'],
    ['ends in text', data(chunk({ content: 'x' })), 'stream_cut', 'retryable'],
    ['is done before it is finished', data(chunk({ content: 'x' }), '[DONE]'), 'stream_cut', 'retryable'],
    [
      'ends in a tool call',
      data(
        chunk({
          tool_calls: [{ index: 0, id: 'a', function: { name: 'Bash', arguments: '{"command":"rm' } }],
        }),
      ),
      'stream_cut',
      'retryable',
    ],
    [
      'calls a tool in half',
      data(
        chunk({
          tool_calls: [{ index: 0, id: 'a', function: { name: 'Bash', arguments: '{"command":"rm' } }],
        }),
        chunk({}, 'tool_calls'),
        '[DONE]',
      ),
      'stream_broken',
      'retryable',
    ],
    [
      'reports a failure',
      data({ error: { message: 'boom', type: 'server_error' } }),
      'server_error',
      'retryable',
    ],
    ['reports an overload', data({ error: { message: 'busy', code: 529 } }), 'stream_error', 'retryable'],
    ['reports a bad request', data({ error: { message: 'no', code: 400 } }), 'stream_error', 'terminal'],
    ['reports only a text', data({ error: 'boom' }), 'stream_error', 'retryable'],
    [
      'is an error itself',
      data({ object: 'error', message: 'no', type: 'BadRequestError' }),
      'BadRequestError',
      'terminal',
    ],
    [
      'reports a full context',
      data({ error: { message: 'no', type: 'invalid_request_error', code: 'context_length_exceeded' } }),
      'context_window',
      'terminal',
    ],
  ])('a stream that %s', async (_, text, code, family) => {
    const provider = await streaming(text);
    await expect(ask(provider)).rejects.toMatchObject({ name: 'ModelError', code, family });
  });

  test('MODEL-3: a stream that breaks tells what was counted by then', async () => {
    const provider = await streaming(data({ ...chunk({ content: 'x' }), usage: USAGE.usage }));
    await expect(ask(provider)).rejects.toMatchObject({ usage: { input_tokens: 5, output_tokens: 2 } });
  });

  test('a stream that is reset is a lost connection, also after the finish reason', async () => {
    const provider = await serve((response, _, request) => {
      response.writeHead(200, STREAM).write(data(chunk({ content: 'x' }), chunk({}, 'stop')));
      setTimeout(() => request.socket.resetAndDestroy(), 20);
    });
    await expect(ask(provider)).rejects.toMatchObject({ code: 'connection', family: 'retryable' });
  });

  test('a page of HTML says what it is and which address to check', async () => {
    const provider = await serve((response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
    });
    await expect(ask(provider)).rejects.toMatchObject({
      code: 'wrong_content_type',
      family: 'terminal',
      message: expect.stringMatching(/text\/html .* OPENAI_BASE_URL right\?$/),
    });
  });

  test.each<[number, string, string, RegExp]>([
    [
      401,
      '{"error":{"message":"no key","type":"invalid_request_error"}}',
      'terminal',
      /check OPENAI_API_KEY$/,
    ],
    [
      404,
      '<html>not here</html>',
      'terminal',
      /is "m" a model of this provider, and OPENAI_BASE_URL right\?$/,
    ],
    [503, '{"error":"loading model"}', 'retryable', /answered 503 loading model$/],
  ])('status %i is told with its advice', async (status, body, family, message) => {
    const provider = await serve((response) => void response.writeHead(status).end(body));
    await expect(ask(provider)).rejects.toMatchObject({
      status,
      family,
      message: expect.stringMatching(message),
    });
  });

  test('a server that is down cannot be reached, and the message names its variable', async () => {
    const provider = openaiProvider({ baseUrl: new URL('http://127.0.0.1:1/v1'), env: {} });
    await expect(ask(provider)).rejects.toMatchObject({
      code: 'connection',
      message: expect.stringContaining('OPENAI_BASE_URL'),
    });
  });

  test.each(['before the answer', 'in mid-stream'])('an abort %s cancels', async (moment) => {
    const controller = new AbortController();
    const provider = await serve((response) => {
      if (moment === 'in mid-stream') response.writeHead(200, STREAM).write(data(chunk({ content: 'x' })));
      else setTimeout(() => controller.abort('SIGINT'), 10);
    });
    const answer = ask(provider, { signal: controller.signal, onDelta: () => controller.abort('SIGINT') });
    await expect(answer).rejects.toMatchObject({ family: 'cancelled' });
  });
});
