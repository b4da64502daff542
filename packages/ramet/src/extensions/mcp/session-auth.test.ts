import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { sessionAuth } from './session-auth.ts';
import { openTokens } from './token-store.ts';

test('EXT-4: a renewal that nobody answers ends, and lets the next one try', async () => {
  const server = createServer((request, response) => {
    // Everything but the refusal hangs.
    if (request.headers.authorization !== undefined) response.writeHead(401).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // It listens on a port, not on a pipe.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const store = openTokens(temporaryDirectory(), url);
  store.save({
    client: { client_id: 'c' },
    tokens: { access_token: 'old', refresh_token: 'r', token_type: 'Bearer', issuer: url },
  });
  const response = await boundedFetch(url, { headers: { authorization: 'Bearer old' } });
  const auth = sessionAuth(store, { limitMs: 200 });
  for (let count = 0; count < 2; count += 1)
    await expect(
      auth.onUnauthorized?.({ response, serverUrl: new URL(url), fetchFn: boundedFetch }),
    ).rejects.toThrow(
      `its login could not be renewed: ${new URL(url).origin}/.well-known/oauth-protected-resource/mcp did not answer within 1 s`,
    );
  expect(store.read()?.tokens.refresh_token).toBe('r');
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test('EXT-4: who waits for the renewal of another process is told for which, and how long', async () => {
  const clock = simulatedClock();
  const home = temporaryDirectory();
  const url = 'http://127.0.0.1:9/mcp';
  const store = openTokens(home, url, clock);
  const over = Promise.withResolvers<void>();
  const holding = openTokens(home, url).alone(() => over.promise);
  const auth = sessionAuth(store, { clock });
  expect(auth.awaited()).toBeNull();
  const response = new Response(null, { status: 401 });
  const waiting = auth.onUnauthorized?.({ response, serverUrl: new URL(url), fetchFn: boundedFetch });
  const failed = expect(waiting).rejects.toThrow(
    'its login could not be renewed: it waited 40 s for another connection of this process to renew it',
  );
  await clock.advance(7_000);
  expect(auth.awaited()).toBe('it waited 7 s for another connection of this process to renew its login');
  writeFileSync(lockIn(home), '4711\n');
  expect(auth.awaited()).toBe('it waited 7 s for process 4711 to renew its login');
  writeFileSync(lockIn(home), `${process.pid}\n`);
  await clock.advance(40_000);
  await failed;
  expect(auth.awaited()).toBeNull();
  over.resolve();
  await holding;
  expect(readdirSync(join(home, 'mcp'))).toEqual([]);
});

function lockIn(home: string): string {
  const folder = join(home, 'mcp');
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.lock')) ?? '');
}
