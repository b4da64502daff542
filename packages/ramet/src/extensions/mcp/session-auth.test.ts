import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { boundedFetch } from './sdk-client.ts';
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
  const auth = sessionAuth(store, 200);
  for (let count = 0; count < 2; count += 1)
    await expect(
      auth.onUnauthorized?.({ response, serverUrl: new URL(url), fetchFn: boundedFetch }),
    ).rejects.toThrow('its login could not be renewed: its authorization server did not answer within 1 s');
  expect(store.read()?.tokens.refresh_token).toBe('r');
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
