/**
 * One POST over `node:http(s)`, kept alive. Chosen over `fetch` and the SDK's transport for its cost: 5 KB of
 * heap for a pending request instead of 22 to 31 (docs/decisions/004-own-transport.md). Proxies come from the
 * environment, except for loopback; extra certificates through NODE_EXTRA_CA_CERTS, as Node reads them.
 */
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { Cancelled, describeError, ModelError, systemCode } from '../schema/errors.ts';

/** The variables a user sets for a provider, as error messages name them. */
export interface EndpointNames {
  readonly key: string;
  readonly baseUrl: string;
}

export interface Endpoint {
  readonly url: URL;
  readonly names: EndpointNames;
  readonly agent: http.Agent;
  readonly target: http.RequestOptions;
}

/** No byte for this long, before the answer or within it, ends the attempt; a busy provider sends pings. */
const SILENCE_MS = 300_000;

export function openEndpoint(url: URL, env: NodeJS.ProcessEnv, names: EndpointNames): Endpoint {
  const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  // The agent's timeout is the request's: equal ones are set once per connection, not once per request.
  const options = { keepAlive: true, timeout: SILENCE_MS, ...(loopback ? {} : { proxyEnv: env }) };
  const agent = url.protocol === 'https:' ? new https.Agent(options) : new http.Agent(options);
  const { protocol, pathname, search } = url;
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const path = pathname + search;
  const auth = url.username === '' ? {} : { auth: decodeURIComponent(`${url.username}:${url.password}`) };
  const target = {
    agent,
    method: 'POST',
    protocol,
    hostname,
    port: url.port,
    path,
    timeout: SILENCE_MS,
    ...auth,
  };
  return { url, names, agent, target };
}

export interface PostOptions {
  headers: Record<string, string>;
  /** The body, in the order in which its parts are sent. */
  pieces: readonly Uint8Array[];
  signal: AbortSignal;
}

/** Resolves with the answer's head; its body is still to be read. */
export async function post(endpoint: Endpoint, options: PostOptions): Promise<IncomingMessage> {
  try {
    return await attempt(endpoint, options);
  } catch (error) {
    // A kept-alive connection that the server closed meanwhile says nothing about the server: try a new one.
    if (error instanceof StaleConnection) return attempt(endpoint, options);
    throw error;
  }
}

class StaleConnection extends Error {}

function attempt(endpoint: Endpoint, { headers, pieces, signal }: PostOptions): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const client = endpoint.url.protocol === 'https:' ? https : http;
    const request = client.request({
      ...endpoint.target,
      headers: { ...headers, 'content-length': lengthOf(pieces) },
    });
    const abort = (): void => void request.destroy();
    signal.addEventListener('abort', abort, { once: true });
    request.once('close', () => signal.removeEventListener('abort', abort));
    if (signal.aborted) abort();
    request.once('socket', restoreTimeout);
    request.once('timeout', () => request.destroy(silence()));
    request.once('response', resolve);
    request.on('error', (error) => {
      const stale = request.reusedSocket && systemCode(error) === 'ECONNRESET' && !signal.aborted;
      reject(stale ? new StaleConnection() : connectionError(error, endpoint, signal));
    });
    for (const piece of pieces) request.write(piece);
    request.end();
  });
}

/** Node shortens the timeout of a kept connection to what the server's `Keep-Alive` header says, and leaves it so. */
function restoreTimeout(socket: Socket): void {
  if (socket.timeout !== SILENCE_MS) socket.setTimeout(SILENCE_MS);
}

function lengthOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
}

function silence(): ModelError {
  return new ModelError('timeout', 'retryable', `the provider sent nothing for ${SILENCE_MS / 1000} s`);
}

/** Any failure of the connection, before or during the answer. */
export function connectionError(error: unknown, endpoint: Endpoint, signal: AbortSignal): Error {
  if (signal.aborted) return new Cancelled('interrupted', { cause: error });
  if (error instanceof ModelError) return error;
  const code = systemCode(error) ?? describeError(error);
  const { names } = endpoint;
  const { origin } = endpoint.url;
  const unreachable = ['ECONNREFUSED', 'ENOTFOUND', 'EPROTO'].includes(code);
  const message = unreachable
    ? `cannot reach ${origin} (${code}): is the provider up, and ${names.baseUrl} right?`
    : `the connection to ${origin} was lost (${code})`;
  return new ModelError('connection', 'retryable', message, { cause: error });
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
