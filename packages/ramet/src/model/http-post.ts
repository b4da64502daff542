/**
 * One POST over `node:http(s)`, kept alive. Chosen over `fetch` and the SDK's transport for its cost: 5 KB of
 * heap for a pending request instead of 22 to 31 (docs/decisions/004-own-transport.md). Proxies come from the
 * environment, except for loopback; extra certificates through NODE_EXTRA_CA_CERTS, as Node reads them.
 */
import http, { type IncomingMessage } from 'node:http';
import { Cancelled, describeError, ModelError, systemCode } from '../schema/errors.ts';
import { ConnectionWatch, DEFAULT_WATCH, type WatchLimits } from './connection-watch.ts';

/** How long a connection that nobody uses is kept. */
const IDLE_MS = 300_000;

/** The same once no session is left: shorter than servers keep them, so that none is found closed. */
const LEFT_IDLE_MS = 4_000;

const PROXY_VARIABLES = ['http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'];

const pools = new Map<string, Pool>();

/** The variables a user sets for a provider, as error messages name them. */
export interface EndpointNames {
  readonly key: string;
  readonly baseUrl: string;
}

export interface Endpoint {
  readonly url: URL;
  readonly names: EndpointNames;
  readonly connections: Connections;
  readonly target: http.RequestOptions;
  /** Requests that are under way. */
  readonly open: Set<http.ClientRequest>;
  readonly watch: ConnectionWatch;
}

/** A kept connection that was closed meanwhile says so at once; one that breaks later broke under this request. */
const STALE_WITHIN_MS = 500;

export function openEndpoint(
  url: URL,
  env: NodeJS.ProcessEnv,
  names: EndpointNames,
  limits: Partial<WatchLimits> = {},
): Endpoint {
  const { protocol, pathname, search } = url;
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const path = pathname + search;
  const auth = url.username === '' ? {} : { auth: decodeURIComponent(`${url.username}:${url.password}`) };
  return {
    url,
    names,
    connections: takeConnections(url, env),
    open: new Set(),
    target: { method: 'POST', protocol, hostname, port: url.port, path, ...auth },
    watch: new ConnectionWatch({ ...DEFAULT_WATCH, ...limits }),
  };
}

/** Ends what is under way; connections that are free stay for others (`Connections`). */
export function closeEndpoint({ connections, open }: Endpoint): void {
  for (const request of open) request.destroy();
  connections.release();
}

export interface PostOptions {
  headers: Record<string, string>;
  /** The body, in the order in which its parts are sent. */
  pieces: readonly Uint8Array[];
  signal: AbortSignal;
  /** Told when there has been no content for a while, and when there is again. */
  onQuiet?: ((isQuiet: boolean) => void) | undefined;
  /** Told before it is sent again: whether the server has taken it the first time nobody knows. */
  onResend?: ((error: ModelError) => void) | undefined;
}

/** The answer's head; its body is still to be read, and the reader says when there is content. */
export interface PostedAnswer {
  readonly answer: IncomingMessage;
  heard(): void;
}

/** A kept connection that the server closed meanwhile says nothing about the server: a new one is made, always. */
export async function post(endpoint: Endpoint, options: PostOptions): Promise<PostedAnswer> {
  try {
    return await attempt(endpoint, endpoint.connections.kept, options);
  } catch (error) {
    if (!(error instanceof StaleConnection)) throw error;
    const message = `the kept connection to ${endpoint.url.origin} was closed`;
    options.onResend?.(new ModelError('connection', 'retryable', message, { cause: error.cause }));
    return attempt(endpoint, endpoint.connections.fresh, options);
  }
}

class StaleConnection extends Error {}

const CLOSED_CODES: readonly unknown[] = ['ECONNRESET', 'EPIPE', 'ECONNABORTED'];

function attempt(endpoint: Endpoint, agent: http.Agent, options: PostOptions): Promise<PostedAnswer> {
  const { headers, pieces, signal, onQuiet } = options;
  return new Promise((resolve, reject) => {
    const since = performance.now();
    const request = clientOf(endpoint.url).request({
      ...endpoint.target,
      agent,
      headers: { ...headers, 'content-length': lengthOf(pieces) },
    });
    endpoint.open.add(request);
    const abort = (): void => void request.destroy();
    let answer: IncomingMessage | null = null;
    const watching = endpoint.watch.begin({
      bytesRead: () => request.socket?.bytesRead ?? 0,
      fail: (error) => void (answer ?? request).destroy(error),
      onQuiet,
    });
    signal.addEventListener('abort', abort, { once: true });
    request.once('close', () => {
      endpoint.open.delete(request);
      watching.end();
      signal.removeEventListener('abort', abort);
    });
    if (signal.aborted) abort();
    request.once('response', (head) => {
      answer = head;
      resolve({ answer: head, heard: watching.heard });
    });
    request.on('error', (error) => {
      const closed = request.reusedSocket && CLOSED_CODES.includes(systemCode(error)) && !signal.aborted;
      const isStale = closed && performance.now() - since < STALE_WITHIN_MS;
      reject(
        isStale ? new StaleConnection('stale', { cause: error }) : connectionError(error, endpoint, signal),
      );
    });
    for (const piece of pieces) request.write(piece);
    request.end();
  });
}

function lengthOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
}

/** Any failure of the connection, before or during the answer. */
export function connectionError(error: unknown, endpoint: Endpoint, signal: AbortSignal): Error {
  if (signal.aborted) return new Cancelled('interrupted', { cause: error });
  if (error instanceof ModelError) return error;
  const code = systemCode(error) ?? describeError(error);
  const { names } = endpoint;
  const { origin } = endpoint.url;
  return new ModelError('connection', 'retryable', connectionMessage(code, origin, names.baseUrl), {
    cause: error,
  });
}

function connectionMessage(code: string, origin: string, variable: string): string {
  if (code === 'EAI_AGAIN')
    return `the name in ${origin} could not be resolved (${code}): is this machine connected, and its name server up?`;
  return ['ECONNREFUSED', 'ENOTFOUND', 'EPROTO'].includes(code)
    ? `cannot reach ${origin} (${code}): is the provider up, and ${variable} right?`
    : `the connection to ${origin} was lost (${code})`;
}

/** The whole body as text, at most `limit` characters of it. */
export function readText(answer: IncomingMessage, limit: number): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    answer.setEncoding('utf8');
    answer.on('data', (chunk: string) => {
      if (text.length < limit) text += chunk.slice(0, limit - text.length);
    });
    answer.once('close', () => resolve(text));
    answer.on('error', () => resolve(text));
  });
}

/**
 * Connections to providers, shared by all sessions of this process. A session that ends leaves its connections for a
 * moment: a program that opens the next one need not connect again. They do not keep the process alive.
 */
interface Connections {
  /** Keeps connections. */
  readonly kept: http.Agent;
  /** Makes a connection for each request. */
  readonly fresh: http.Agent;
  /** Gives them back. A second call does nothing. */
  release(): void;
}

interface Pool extends Pick<Connections, 'kept' | 'fresh'> {
  users: number;
  timer: NodeJS.Timeout | null;
}

/** Loopback is reached without a proxy. */
function takeConnections(url: URL, env: NodeJS.ProcessEnv): Connections {
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  const key = isLoopback ? url.origin : JSON.stringify([url.origin, proxyVariables(env)]);
  const pool = pools.get(key) ?? newPool(url, isLoopback ? {} : { proxyEnv: env });
  pools.set(key, pool);
  pool.users += 1;
  if (pool.timer !== null) clearTimeout(pool.timer);
  pool.timer = null;
  let isHeld = true;
  const release = (): void => {
    if (isHeld) leave(key, pool);
    isHeld = false;
  };
  return { kept: pool.kept, fresh: pool.fresh, release };
}

function newPool(url: URL, proxies: Pick<http.AgentOptions, 'proxyEnv'>): Pool {
  const { Agent } = clientOf(url);
  return {
    kept: new Agent({ keepAlive: true, timeout: IDLE_MS, ...proxies }),
    fresh: new Agent({ keepAlive: false, ...proxies }),
    users: 0,
    timer: null,
  };
}

function leave(key: string, pool: Pool): void {
  pool.users -= 1;
  if (pool.users > 0) return;
  pool.timer = setTimeout(() => {
    pools.delete(key);
    pool.kept.destroy();
    pool.fresh.destroy();
  }, LEFT_IDLE_MS).unref();
}

function proxyVariables(env: NodeJS.ProcessEnv): readonly [name: string, value: string | undefined][] {
  return Object.entries(env).filter(([name]) => PROXY_VARIABLES.includes(name.toLowerCase()));
}

/** TLS takes 8 ms to load, and a server on this machine seldom needs it. */
function clientOf({ protocol }: URL): Pick<typeof http, 'Agent' | 'request'> {
  return protocol === 'https:' ? process.getBuiltinModule('node:https') : http;
}
