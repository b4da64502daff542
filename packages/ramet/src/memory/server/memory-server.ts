/** The memory server as a process has it: the socket, its time limits, and the end. TLS is a proxy's. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { describeError, systemCode, UserMistake } from '../../schema/errors.ts';
import type { SharedDatabase } from '../../system/sqlite/shared-database.ts';
import { DEFAULT_LIMITS, type MemoryLimits } from '../wire/memory-shapes.ts';
import { beginPart } from './history-parts.ts';
import { answerForKey, isForKey, type KeyRequests } from './key-requests.ts';
import { KeyStore, openMemoryDatabase } from './key-store.ts';
import { memoryApp, responseOf } from './memory-api.ts';
import { refuse } from './memory-reply.ts';
import { RequestGate } from './request-gate.ts';
import { answerBroken, headProblem, OpenWrites, originForm, sendLast } from './request-head.ts';
import { TeamTokens } from './team-tokens.ts';

export interface MemoryServerOptions {
  /** Where `memory.sqlite` is. */
  directory: string;
  /** 127.0.0.1 when absent. */
  host?: string | undefined;
  /** A free one when absent. */
  port?: number | undefined;
  limits?: Partial<MemoryLimits>;
  note?(line: string): void;
  /** For a request to arrive whole. */
  requestTimeoutMs?: number;
}

export interface MemoryServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

const REQUEST_MS = 30_000;
const CONNECTIONS = 2_000;

export async function startMemoryServer(options: MemoryServerOptions): Promise<MemoryServer> {
  const { host = '127.0.0.1', port = 0, note = () => {}, requestTimeoutMs = REQUEST_MS } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const db = openMemoryDatabase(options.directory);
  beginHistory(db, note);
  const store = new KeyStore(db, limits);
  const gate = new RequestGate(db, new TeamTokens(db), store, limits);
  const server = serverFor({ store, gate, limits, note, writes: new OpenWrites() }, requestTimeoutMs);
  server.maxConnections = CONNECTIONS;
  // One that sends nothing and reads nothing.
  server.setTimeout(2 * requestTimeoutMs, (socket) => socket.destroy());
  try {
    await listen(server, host, port);
  } catch (error) {
    db[Symbol.dispose]();
    throw error;
  }
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
    await store.settled();
    db[Symbol.dispose]();
  };
  // The cast: a server that listens on a port has an address of this form.
  const { port: taken } = server.address() as AddressInfo;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${taken}`;
  return { url, port: taken, close, [Symbol.asyncDispose]: close };
}

/** A full disk keeps nobody from reading. */
function beginHistory(db: SharedDatabase, note: (line: string) => void): void {
  try {
    beginPart(db);
  } catch (error) {
    note(`clients will not learn if an old copy of the file was put back: ${describeError(error)}`);
  }
}

function serverFor(api: KeyRequests, requestTimeoutMs: number): Server {
  // The body of a refused request is not waited for.
  const others = getRequestListener(memoryApp(api).fetch, {
    overrideGlobalObjects: false,
    autoCleanupIncoming: true,
    errorHandler: () => responseOf(refuse(400, 'head', 'the address is not understood')),
  });
  const timeouts = {
    requestTimeout: requestTimeoutMs,
    headersTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(1_000, requestTimeoutMs),
    keepAliveTimeout: 15_000,
  };
  // A Host that is missing or sent twice is refused as `request-head.ts` says.
  const heads = { maxHeaderSize: 16 * 1024, joinDuplicateHeaders: true, requireHostHeader: false };
  const server = createServer({ ...timeouts, ...heads }, (incoming, outgoing) => {
    const problem = headProblem(incoming);
    if (problem !== null) return sendLast(incoming, outgoing, problem);
    incoming.url = originForm(incoming.url);
    if (isForKey(incoming)) answerForKey(api, incoming, outgoing);
    else void others(incoming, outgoing);
  });
  answerBroken(server, api.writes);
  return server;
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const code = systemCode(error);
      const reason = code === 'EADDRINUSE' ? 'another program has that port' : describeError(error);
      reject(
        new UserMistake(
          'no_port',
          `cannot listen on ${host}:${port}: ${reason}; choose another --port or --host`,
        ),
      );
    });
    server.listen(port, host, resolve);
  });
}
