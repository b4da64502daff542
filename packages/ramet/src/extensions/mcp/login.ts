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
import { UserMistake } from '../../schema/errors.ts';
import { onAbort } from '../../system/on-abort.ts';
import { visibleLine } from '../../system/text/visible-text.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { createClient, endSession, finishLogin, httpTransport, isLoginRefused } from './sdk-client.ts';
import { type HttpServer, isObject } from './server-config.ts';
import { describeCause, oneLine, seconds } from './server-failure.ts';
import { openTokens, type StoredLogin } from './token-store.ts';

interface LoginTerms {
  readonly home: string;
  /** Told where a person logs in. */
  visit(url: string): void;
  readonly signal: AbortSignal;
  /** How long the authorization server may take for an answer. */
  readonly limitMs?: number;
}

/** `not needed`: the server answers without one. Until it has succeeded an earlier login stays as it is. */
export async function logIn(server: HttpServer, terms: LoginTerms): Promise<'done' | 'not needed'> {
  const { home, visit, signal } = terms;
  await using browser = await awaitBrowser();
  const draft = new LoginDraft(browser, visit);
  const talk = new LoginTalk(server, terms);
  const transport = httpTransport(server, draft.provider, talk.fetch);
  const parts = { server: 'login', version: '0', cwd: '/', isHttp: true, onToolsChanged() {} };
  const client = createClient({ ...parts, elicit: async () => ({ action: 'decline' }) });
  try {
    await client.connect(transport, { signal });
    // Some ask for it only then.
    if (client.getServerCapabilities()?.tools !== undefined) await client.listTools(undefined, { signal });
    return 'not needed';
  } catch (error) {
    if (talk.problem !== null || !isLoginRefused(error)) throw talk.failure(error);
  } finally {
    await endSession(transport);
    await client.close().catch(() => {});
  }
  const aborted = Promise.withResolvers<never>();
  const unlink = onAbort(signal, () => aborted.reject(failed(GIVEN_UP)));
  try {
    const answer = await Promise.race([browser.answer, aborted.promise]);
    await finishLogin(transport, answer);
  } catch (error) {
    throw talk.failure(error);
  } finally {
    unlink();
  }
  const store = openTokens(home, server.url);
  await store.alone(async () => store.save(draft.login()));
  return 'done';
}

function failed(why: string): UserMistake {
  return new UserMistake('mcp_login', `the login did not succeed: ${visibleLine(oneLine(why))}`);
}

const REQUEST_MS = 30_000;
const BY_HEADER = 'give it a token in an Authorization header instead (ramet mcp add --header)';
const GIVEN_UP = 'it was given up';

/** What is said to the servers of one login: each request ends, and what goes wrong is told with where. */
class LoginTalk {
  readonly #server: URL;
  readonly #terms: LoginTerms;
  /** Where the latest request went. */
  #address = '';
  /** The first request that came to nothing. The SDK tries others then, and tells of those. */
  problem: UserMistake | null = null;

  constructor({ url }: HttpServer, terms: LoginTerms) {
    this.#server = new URL(url);
    this.#terms = terms;
  }

  readonly fetch: typeof boundedFetch = async (url, init) => {
    const { signal, limitMs = REQUEST_MS } = this.#terms;
    const { origin, pathname } = new URL(url);
    const address = `${origin}${pathname}`;
    this.#address = address;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new DOMException('', 'TimeoutError')), limitMs).unref();
    const all = AbortSignal.any([signal, late.signal, ...(init?.signal ? [init.signal] : [])]);
    try {
      const response = await boundedFetch(url, { ...init, signal: all });
      // The server's own answers may be streams, which stay open.
      if (origin === this.#server.origin && pathname === this.#server.pathname) clearTimeout(timer);
      // The SDK would write to standard error, and send the same code once more.
      if (init?.body instanceof URLSearchParams && !response.ok)
        throw failed(`${address}: ${await refusalOf(response)}`);
      return response;
    } catch (error) {
      if (signal.aborted) this.problem ??= failed(GIVEN_UP);
      else if (late.signal.aborted) this.problem ??= this.#late();
      throw this.problem ?? error;
    }
  };

  #late(): UserMistake {
    return failed(`${this.#address} did not answer within ${seconds(this.#terms.limitMs ?? REQUEST_MS)}`);
  }

  failure(error: unknown): UserMistake {
    if (this.problem !== null) return this.problem;
    if (this.#terms.signal.aborted) return failed(GIVEN_UP);
    if (error instanceof UserMistake) return error;
    if (isDeclined(error)) return failed('it was declined in the browser (access_denied)');
    // It began to answer.
    if (error instanceof Error && error.name === 'TimeoutError') return this.#late();
    if (error instanceof SyntaxError) return failed(`${this.#address}: it did not answer with JSON`);
    const words = describeCause(error);
    if (/dynamic client registration/.test(words))
      return failed(`its authorization server does not register clients: ${BY_HEADER}`);
    return failed(`${this.#address}: ${words}`);
  }
}

function isDeclined(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'access_denied';
}

/** In the words of OAuth, if it has them. */
async function refusalOf(response: Response): Promise<string> {
  const status = `it answered with HTTP ${response.status}`;
  const told: unknown = await response.json().catch(() => null);
  if (!isObject(told) || typeof told.error !== 'string') return status;
  const more = typeof told.error_description === 'string' ? `, ${told.error_description}` : '';
  return `${status}: ${told.error}${more}`;
}

/** A code that is not bound to who asked for it can be used by who sees it. Who says nothing of PKCE does not bind it. */
function refuseWithoutPkce({ authorizationServerMetadata: said }: OAuthDiscoveryState): void {
  if (said === undefined || said.code_challenge_methods_supported?.includes('S256') === true) return;
  throw failed(
    `${said.issuer} does not say that it checks PKCE with S256, so its codes are not safe: ${BY_HEADER}`,
  );
}

/** It is shown to a person who opens it. */
function addressToVisit(url: URL): string {
  if (['http:', 'https:'].includes(url.protocol)) return url.href;
  const shown = url.href.split('?', 1)[0] ?? '';
  throw failed(
    `its authorization server wants a person to log in at ${shown.slice(0, 200)}: only http and https are opened`,
  );
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
        refuseWithoutPkce(discovery);
        this.#discovery = discovery;
      },
      redirectToAuthorization: (url) => visit(addressToVisit(url)),
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
