import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ModelError } from '../schema/errors.ts';
import type { WatchLimits } from './connection-watch.ts';
import { closeEndpoint, connectionError, type Endpoint, openEndpoint, post, readText } from './http-post.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

interface Served {
  endpoint: Endpoint;
  /** Those that are open, in the order in which they were made. */
  sockets: Socket[];
}

async function serve(answer: http.RequestListener, limits: Partial<WatchLimits> = {}): Promise<Served> {
  const sockets: Socket[] = [];
  const server = http.createServer((request, response) => {
    request.resume().once('end', () => answer(request, response));
  });
  server.on('connection', (socket) => sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // It listens on TCP.
  const { port } = server.address() as AddressInfo;
  const names = { key: 'KEY', baseUrl: 'BASE_URL' };
  const endpoint = openEndpoint(new URL(`http://127.0.0.1:${port}/`), {}, names, limits);
  closers.push(() => {
    closeEndpoint(endpoint);
    server.closeAllConnections();
    server.close();
  });
  return { endpoint, sockets };
}

async function send(endpoint: Endpoint, onResend?: (error: ModelError) => void): Promise<string> {
  const { signal } = new AbortController();
  const { answer } = await post(endpoint, { headers: {}, pieces: [Buffer.from('{}')], signal, onResend });
  return readText(answer, 100);
}

/** Several connections are kept, and the server drops all of them at the next request that uses one. */
async function keepConnections({ endpoint, sockets }: Served, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => send(endpoint)));
  expect(sockets).toHaveLength(count);
}

describe('MODEL-2: a kept connection that the server has dropped', () => {
  test.each([1, 2, 8])('is replaced by a fresh one, with %i of them dropped', async (count) => {
    let dropped = false;
    const served = await serve((request, response) => {
      const isOld = served.sockets.indexOf(request.socket) < count;
      if (dropped && isOld) request.socket.resetAndDestroy();
      else setImmediate(() => response.end('yes'));
    });
    await keepConnections(served, count);
    dropped = true;
    const resent: string[] = [];
    const note = ({ code, message }: ModelError): void => void resent.push(`${code}: ${message}`);
    const answers = await Promise.all(Array.from({ length: count }, () => send(served.endpoint, note)));
    expect(answers).toEqual(Array(count).fill('yes'));
    const { origin } = served.endpoint.url;
    expect(resent).toEqual(Array(count).fill(`connection: the kept connection to ${origin} was closed`));
  });

  test('a fresh connection that is reset is a failure that may be tried again', async () => {
    const { endpoint } = await serve(({ socket }) => socket.resetAndDestroy());
    await expect(send(endpoint)).rejects.toMatchObject({ code: 'connection', family: 'retryable' });
  });
});

describe('connections of one process', () => {
  const names = { key: 'KEY', baseUrl: 'BASE_URL' };

  test('are used again by the next session, also after the last one has ended', async () => {
    const { endpoint, sockets } = await serve((_request, response) => response.end('yes'));
    await send(endpoint);
    closeEndpoint(endpoint);
    const next = openEndpoint(endpoint.url, {}, names);
    await send(next);
    closeEndpoint(next);
    expect(sockets).toHaveLength(1);
  });

  test('closing one session ends its own requests, and no others', async () => {
    const waiting: http.ServerResponse[] = [];
    const { endpoint } = await serve((_request, response) => void waiting.push(response));
    const other = openEndpoint(endpoint.url, {}, names);
    const [ended, answered] = [send(endpoint), send(other)];
    const refused = expect(ended).rejects.toMatchObject({ code: 'connection' });
    await vi.waitUntil(() => waiting.length === 2);
    closeEndpoint(endpoint);
    await refused;
    for (const response of waiting) response.end('yes');
    expect(await answered).toBe('yes');
    closeEndpoint(other);
  });

  test('are not shared by sessions with different proxies', () => {
    const url = new URL('http://provider.example/');
    const proxy = { HTTP_PROXY: 'http://127.0.0.1:9' };
    const [plain, same, proxied] = [{}, {}, proxy].map((env) => openEndpoint(url, env, names));
    expect(same?.connections.kept).toBe(plain?.connections.kept);
    expect(proxied?.connections.kept).not.toBe(plain?.connections.kept);
    for (const endpoint of [plain, same, proxied]) if (endpoint !== undefined) closeEndpoint(endpoint);
  });
});

describe('MODEL-2: a provider that falls silent', () => {
  test('before the answer ends the attempt in time, and says so', async () => {
    const { endpoint } = await serve(() => {}, { silentMs: 40 });
    await expect(send(endpoint)).rejects.toMatchObject({
      code: 'timeout',
      family: 'retryable',
      message: 'the provider sent nothing for 0.04 s (limits.silenceSeconds)',
    });
  });
});

test('MODEL-2: a name that cannot be resolved for now is told as that, not as a lost connection', () => {
  const endpoint = openEndpoint(new URL('http://provider.example/'), {}, { key: 'KEY', baseUrl: 'BASE_URL' });
  const error = Object.assign(new Error('getaddrinfo EAI_AGAIN'), { code: 'EAI_AGAIN' });
  expect(connectionError(error, endpoint, new AbortController().signal).message).toBe(
    'the name in http://provider.example could not be resolved (EAI_AGAIN): is this machine connected, and its name server up?',
  );
  closeEndpoint(endpoint);
});
