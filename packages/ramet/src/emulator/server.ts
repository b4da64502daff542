/**
 * The emulator as an HTTP server on loopback. Owns the socket, the records of requests and shutting down; paths and
 * keys belong to `routes.ts`, answering to `messages-endpoint.ts`.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeError, systemCode, UserMistake } from '../schema/errors.ts';
import { ApiError } from './api-error.ts';
import { checkEmulatorOptions } from './emulator-options.ts';
import {
  type EmulatorOptions,
  type EmulatorState,
  newState,
  type UnmatchedRequest,
} from './emulator-state.ts';
import { decodeBody, type Exchange, readBody, sendError } from './exchange.ts';
import { maskSecrets, openRequestLog, plainHeaders, type RequestRecord } from './request-record.ts';
import { route } from './routes.ts';

export interface Emulator extends AsyncDisposable {
  /** For `ANTHROPIC_BASE_URL`. */
  readonly url: string;
  readonly port: number;
  /** In the order in which their bodies were complete. */
  readonly requests: readonly RequestRecord[];
  readonly unmatched: readonly UnmatchedRequest[];
  /** Ends open connections at once. */
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
const MAX_BODY_BYTES = 32 * 1024 * 1024;

export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  checkEmulatorOptions(options);
  const log = options.log === undefined ? undefined : openRequestLog(options.log);
  const requests: RequestRecord[] = [];
  const state = await openState(options).catch((error) => {
    log?.close();
    throw error;
  });
  const running = new Set<Promise<void>>();
  const server = createServer({ keepAliveTimeout: 120_000, requestTimeout: 0 }, (incoming, response) => {
    const done = serve(incoming, response, { options, state, requests }).then((record) => {
      running.delete(done);
      if (record === undefined) return;
      log?.append(record);
      options.onRequest?.(record);
    });
    running.add(done);
  });
  const port = await listen(server, options.port ?? 0).catch((error) => {
    log?.close();
    state.recorder?.close();
    throw error;
  });
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await Promise.all([closed, ...running]);
    log?.close();
    state.recorder?.close();
  };
  const url = `http://${HOST}:${port}`;
  return { url, port, requests, unmatched: state.unmatched, close, [Symbol.asyncDispose]: close };
}

/** Cassettes are loaded only where there is one. */
async function openState(options: EmulatorOptions): Promise<EmulatorState> {
  const { cassette: file, record } = options;
  const state = newState(options);
  if (file !== undefined) {
    const [{ CassettePlayer }, { loadCassette }] = await Promise.all([
      import('./cassettes/cassette-player.ts'),
      import('./cassettes/cassette-file.ts'),
    ]);
    state.cassette = new CassettePlayer(file, await loadCassette(file));
  } else if (record !== undefined) {
    const { CassetteRecorder } = await import('./cassettes/cassette-recorder.ts');
    state.recorder = new CassetteRecorder(record);
  }
  return state;
}

/** A page in a browser can make its own name lead here; its requests then carry that name. */
const OWN_NAMES = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/** A page of another site can send requests here too, and says whose it is. */
const OWN_ORIGIN = new RegExp(`^https?://${OWN_NAMES.source.slice(1)}`, 'i');

function refuseOtherHosts({ headers: { host, origin } }: IncomingMessage): void {
  const isOther = host !== undefined && !OWN_NAMES.test(host);
  if (!isOther && (origin === undefined || OWN_ORIGIN.test(origin))) return;
  const whom = isOther ? host : `pages of ${origin}`;
  throw new ApiError(
    403,
    `This server answers only to localhost and 127.0.0.1, not to ${whom.slice(0, 100)}.`,
  );
}

interface Serving {
  options: EmulatorOptions;
  state: EmulatorState;
  requests: RequestRecord[];
}

/** Never rejects; undefined when the client left before its request was complete. */
async function serve(
  incoming: IncomingMessage,
  response: ServerResponse,
  { options, state, requests }: Serving,
): Promise<RequestRecord | undefined> {
  const left = new AbortController();
  response.on('close', () => left.abort());
  response.on('error', () => left.abort());
  const body = await readBody(incoming, options.maxBodyBytes ?? MAX_BODY_BYTES);
  if (body === undefined) return undefined;
  const headers = plainHeaders(incoming.headers);
  const record = newRecord(incoming, headers, state.clock.now());
  if (options.keepRequests !== false) requests.push(record);
  const exchange = {
    record,
    headers,
    search: /\?.*$/s.exec(incoming.url ?? '')?.[0] ?? '',
    response,
    requestId: state.newId('req'),
    gone: left.signal,
  };
  try {
    refuseOtherHosts(incoming);
    if (body === 'too large') throw new ApiError(413, 'Request exceeds the maximum allowed number of bytes.');
    record.body = decodeBody(body);
    await route(state, exchange, options);
  } catch (error) {
    refuse(exchange, error);
  }
  if (record.outcome === 'open') record.outcome = response.writableEnded ? 'answered' : 'disconnected';
  return record;
}

function newRecord(incoming: IncomingMessage, headers: Record<string, string>, time: number): RequestRecord {
  return {
    time,
    method: incoming.method ?? '',
    path: (incoming.url ?? '').split('?')[0] ?? '',
    headers: maskSecrets(headers),
    body: '',
    request: undefined,
    status: 0,
    usage: undefined,
    outcome: 'open',
    rule: undefined,
  };
}

/** What is not an API error is a bug of the emulator: it is reported, and the emulator lives on. */
function refuse(exchange: Exchange, error: unknown): void {
  if (exchange.response.headersSent) {
    exchange.response.destroy();
    return;
  }
  if (exchange.record.outcome === 'open') exchange.record.outcome = 'refused';
  sendError(
    exchange,
    error instanceof ApiError ? error : new ApiError(500, `emulator: ${describeError(error)}`),
  );
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const busy =
        systemCode(error) === 'EADDRINUSE' ? 'is in use' : `cannot be used (${describeError(error)})`;
      const hint = 'choose another, or leave it out for any free one';
      reject(new UserMistake('port_unusable', `port ${port} on ${HOST} ${busy}: ${hint}`, { cause: error }));
    });
    server.listen(port, HOST, () => {
      // A server listening on TCP always has an AddressInfo.
      resolve((server.address() as AddressInfo).port);
    });
  });
}
