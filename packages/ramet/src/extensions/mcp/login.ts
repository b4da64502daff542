/** A login at a server over HTTP: the SDK's OAuth, with a browser that comes back to a port of the loopback interface. */
import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { describeError, UserMistake } from '../../schema/errors.ts';
import { onAbort } from '../../system/on-abort.ts';
import { createClient, endSession, finishLogin, httpTransport, isLoginRefused } from './sdk-client.ts';
import type { HttpServer } from './server-config.ts';
import { oneLine } from './server-failure.ts';
import { openTokens, type StoredLogin } from './token-store.ts';

interface LoginTerms {
  readonly home: string;
  /** Told where a person logs in. */
  visit(url: string): void;
  readonly signal: AbortSignal;
}

/** `not needed`: the server answers without one. Until it has succeeded an earlier login stays as it is. */
export async function logIn(server: HttpServer, terms: LoginTerms): Promise<'done' | 'not needed'> {
  const { home, visit, signal } = terms;
  await using browser = await awaitBrowser();
  const draft = new LoginDraft(browser, visit);
  const transport = httpTransport(server, draft.provider);
  const parts = { server: 'login', version: '0', cwd: '/', onToolsChanged() {} };
  const client = createClient({ ...parts, elicit: async () => ({ action: 'decline' }) });
  try {
    await client.connect(transport, { signal });
    // Some ask for it only then.
    if (client.getServerCapabilities()?.tools !== undefined) await client.listTools(undefined, { signal });
    return 'not needed';
  } catch (error) {
    if (!isLoginRefused(error)) throw failed(describeError(error));
  } finally {
    await endSession(transport);
    await client.close().catch(() => {});
  }
  const aborted = Promise.withResolvers<never>();
  const unlink = onAbort(signal, () => aborted.reject(failed('it was given up')));
  try {
    const answer = await Promise.race([browser.answer, aborted.promise]);
    await finishLogin(transport, answer);
  } catch (error) {
    throw error instanceof UserMistake ? error : failed(describeError(error));
  } finally {
    unlink();
  }
  const store = openTokens(home, server.url);
  await store.alone(async () => store.save(draft.login()));
  return 'done';
}

function failed(why: string): UserMistake {
  return new UserMistake('mcp_login', `the login did not succeed: ${oneLine(why)}`);
}

/** What one login learns: nothing of it is stored before it is whole. */
class LoginDraft {
  readonly provider: OAuthClientProvider;
  #client: StoredOAuthClientInformation | undefined;
  #tokens: StoredOAuthTokens | undefined;
  #resource: string | undefined;
  #verifier = '';
  #discovery: OAuthDiscoveryState | undefined;

  constructor({ redirectUrl, state }: WaitingBrowser, visit: LoginTerms['visit']) {
    this.provider = {
      redirectUrl,
      clientMetadata: {
        client_name: 'Ramet',
        redirect_uris: [redirectUrl],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
      state: () => state,
      tokens: () => this.#tokens,
      saveTokens: (tokens) => {
        this.#tokens = tokens;
      },
      clientInformation: () => this.#client,
      saveClientInformation: (client) => {
        this.#client = client;
      },
      codeVerifier: () => this.#verifier,
      saveCodeVerifier: (verifier) => {
        this.#verifier = verifier;
      },
      saveResourceUrl: (resource) => {
        this.#resource = String(resource);
      },
      discoveryState: () => this.#discovery,
      saveDiscoveryState: (discovery) => {
        this.#discovery = discovery;
      },
      redirectToAuthorization: (url) => visit(url.href),
    };
  }

  login(): StoredLogin {
    if (this.#client === undefined || this.#tokens === undefined) throw failed('no token came');
    return {
      client: this.#client,
      tokens: this.#tokens,
      ...(this.#resource !== undefined && { resource: this.#resource }),
    };
  }
}

interface WaitingBrowser extends AsyncDisposable {
  readonly redirectUrl: string;
  /** What the browser brings back: other pages cannot know it. */
  readonly state: string;
  /** What the browser came back with. */
  readonly answer: Promise<URLSearchParams>;
}

/** Listens on the loopback interface until a browser comes back from a login. */
async function awaitBrowser(): Promise<WaitingBrowser> {
  const state = randomBytes(24).toString('base64url');
  const answered = Promise.withResolvers<URLSearchParams>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const isOurs = pathname === '/callback' && searchParams.get('state') === state;
    response.writeHead(isOurs ? 200 : 404, {
      'content-type': 'text/plain; charset=utf-8',
      connection: 'close',
    });
    response.end(isOurs ? 'Ramet has the answer. You can close this page.\n' : 'Not here.\n');
    if (isOurs) answered.resolve(searchParams);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    redirectUrl: `http://127.0.0.1:${portOf(server)}/callback`,
    state,
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
