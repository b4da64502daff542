/**
 * The SDK's OAuth, with our store. In a session nobody is at a browser: a server that asks for a login fails with a line
 * that says how to log in. `logIn` waits for the browser on a port of the loopback interface.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import type { TokenStore } from './token-store.ts';

export interface LoginDesk {
  /** Where the browser comes back to; undefined without a browser. */
  readonly redirectUrl: string | undefined;
  /** Told where a person logs in. */
  visit(url: URL): void;
}

/** A login that needs a person. */
export class LoginNeeded extends Error {}

const NO_BROWSER: LoginDesk = {
  redirectUrl: undefined,
  visit() {
    throw new LoginNeeded('it needs a login');
  },
};

type Stored<Method extends 'tokens' | 'clientInformation' | 'codeVerifier'> = Awaited<
  ReturnType<OAuthClientProvider[Method]>
>;

export function oauthProvider(store: TokenStore, desk: LoginDesk = NO_BROWSER): OAuthClientProvider {
  const state = randomBytes(16).toString('base64url');
  return {
    // Without a browser there is still an address to register, so that stored tokens can be refreshed.
    redirectUrl: desk.redirectUrl ?? 'http://127.0.0.1/callback',
    clientMetadata: {
      client_name: 'Ramet',
      redirect_uris: [desk.redirectUrl ?? 'http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    state: () => state,
    // Only what the SDK gave comes back from the store.
    tokens: () => store.get('tokens') as Stored<'tokens'>,
    saveTokens: (tokens) => store.set('tokens', tokens),
    // The same.
    clientInformation: () => store.get('client') as Stored<'clientInformation'>,
    saveClientInformation: (client) => store.set('client', client),
    codeVerifier: () => String(store.get('verifier') ?? ''),
    saveCodeVerifier: (verifier) => store.set('verifier', verifier),
    redirectToAuthorization: (url) => desk.visit(url),
    invalidateCredentials(scope) {
      if (scope === 'all') store.clear();
      else if (scope === 'tokens' || scope === 'client' || scope === 'verifier') store.set(scope, undefined);
    },
  };
}

export interface WaitingBrowser extends AsyncDisposable {
  readonly redirectUrl: string;
  /** What the browser came back with. */
  readonly answer: Promise<URLSearchParams>;
}

/** Listens on the loopback interface until a browser comes back from a login. */
export async function awaitBrowser(): Promise<WaitingBrowser> {
  const answered = Promise.withResolvers<URLSearchParams>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (pathname !== '/callback') {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
    response.end('Ramet has the answer. You can close this page.\n');
    answered.resolve(searchParams);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    redirectUrl: `http://127.0.0.1:${portOf(server)}/callback`,
    answer: answered.promise,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function portOf(server: Server): number {
  // It listens on a port, not on a pipe.
  return (server.address() as AddressInfo).port;
}
