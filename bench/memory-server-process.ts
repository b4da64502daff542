/**
 * A server of the `memory-server` measurement, in a process of its own: the memory server, or a bare `node:http` one that
 * keeps tags in a map and does nothing else. Prints its port; answers each line that it reads with its processor time.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { startMemoryServer } from '../packages/ramet/src/memory/server/memory-server.ts';

const [kind, directory = ''] = process.argv.slice(2);

async function startBare(): Promise<number> {
  const tags = new Map<string, string>();
  let version = 0;
  const server = http.createServer((request, response) => {
    const key = request.url ?? '';
    if (request.method === 'GET') {
      const tag = tags.get(key);
      response.writeHead(tag !== undefined && request.headers['if-none-match'] === tag ? 304 : 404, {
        etag: tag ?? '""',
      });
      response.end();
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      version += 1;
      const etag = `"${version}"`;
      tags.set(key, etag);
      const body = JSON.stringify({ key, version, size: Buffer.concat(chunks).length });
      response.writeHead(200, {
        etag,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      });
      response.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The cast: a server that listens on a port has an address of this form.
  return (server.address() as AddressInfo).port;
}

const port =
  kind === 'bare'
    ? await startBare()
    : (await startMemoryServer({ directory, limits: { rate: 1e9, burst: 1e9 } })).port;
process.stdout.write(`${port}\n`);
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.(user + system);
});
process.once('disconnect', () => process.exit());
