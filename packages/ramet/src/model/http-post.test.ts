import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type Endpoint, openEndpoint, post, readText } from './http-post.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function serve(headers: http.OutgoingHttpHeaders): Promise<Endpoint> {
  const server = http.createServer((request, response) => {
    request.resume();
    request.once('end', () => response.writeHead(200, headers).end('yes'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const names = { key: 'KEY', baseUrl: 'BASE_URL' };
  const endpoint = openEndpoint(new URL(`http://127.0.0.1:${port}/`), {}, names);
  closers.push(() => {
    endpoint.agent.destroy();
    server.closeAllConnections();
    server.close();
  });
  return endpoint;
}

describe('MODEL-2: how long a provider may be silent', () => {
  test('a server that drops idle connections early may think as long on a used one as on a new one', async () => {
    const endpoint = await serve({ connection: 'keep-alive', 'keep-alive': 'timeout=3' });
    const send = () =>
      post(endpoint, { headers: {}, pieces: [Buffer.from('{}')], signal: new AbortController().signal });
    const first = await send();
    const { localPort, timeout } = first.socket;
    await readText(first, 100);
    const second = await send();
    expect(second.socket.localPort).toBe(localPort);
    expect(second.socket.timeout).toBe(timeout);
    await readText(second, 100);
  });
});
