/**
 * What is wrong with a request whatever it asks for (RFC 9110, RFC 9112), and the answers to what is no request at all.
 *
 * A body that is followed by anything but another request was not sent as it was meant: what it asks for is not done, unless
 * it is being done already. Then its answer is the last of the connection.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { systemCode } from '../../schema/errors.ts';
import { type MemoryReply, refuse, send } from './memory-reply.ts';

const HOST = /^(?:\[[0-9a-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d{0,5})?$/i;

/** Null if nothing is. The server joins fields that are sent twice. */
export function headProblem({ headers, httpVersionMinor }: IncomingMessage): MemoryReply | null {
  const { host, 'transfer-encoding': coding } = headers;
  if (host === undefined ? httpVersionMinor > 0 : !HOST.test(host))
    return refuse(400, 'head', 'send one Host field, with the name of the server');
  if (coding === undefined || coding.toLowerCase() === 'chunked') return null;
  return refuse(501, 'encoding', 'send the value as it is: no Transfer-Encoding but chunked is understood');
}

/** The path of a target that names the server too, as one for a proxy does. */
export function originForm(url = ''): string {
  if (url.startsWith('/')) return url;
  const [, path] = /^https?:\/\/[^/?#]*(.*)$/i.exec(url) ?? [];
  if (path === undefined) return url;
  return path.startsWith('/') ? path : `/${path}`;
}

export class OpenWrites {
  readonly #open = new WeakSet<Socket>();
  readonly #last = new WeakSet<Socket>();

  /** False if the connection is over, or brought more than the request: then it is not to be done. */
  begin({ socket }: IncomingMessage): boolean {
    if (!socket.writable) return false;
    this.#open.add(socket);
    return true;
  }

  end({ socket }: IncomingMessage, outgoing: ServerResponse): void {
    this.#open.delete(socket);
    if (this.#last.has(socket)) outgoing.setHeader('Connection', 'close');
  }

  /** True if the answer to a write is under way, which ends the connection now. */
  isLast(socket: Socket): boolean {
    if (this.#open.has(socket)) this.#last.add(socket);
    return this.#open.has(socket);
  }
}

/** The last answer of a connection, whatever else it brings. */
export function sendLast({ socket }: IncomingMessage, outgoing: ServerResponse, reply: MemoryReply): void {
  outgoing.setHeader('Connection', 'close');
  send(outgoing, reply);
  socket.destroySoon();
}

export function answerBroken(server: Server, writes: OpenWrites): void {
  server.on('checkExpectation', (incoming, outgoing) =>
    sendLast(incoming, outgoing, refuse(417, 'head', 'no Expect but 100-continue is understood')),
  );
  server.on('clientError', (error, socket) => {
    if (!('remoteAddress' in socket)) socket.destroy();
    // The cast: it is one of `node:http`, which has TCP sockets.
    else if (!writes.isLast(socket as Socket)) endWith(socket as Socket, replyTo(systemCode(error)));
  });
}

function replyTo(code: string | undefined): MemoryReply {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return refuse(408, 'slow', 'the request did not arrive in time');
  if (code === 'HPE_HEADER_OVERFLOW')
    return refuse(431, 'head', 'the head of the request has more than 16 KB');
  return refuse(400, 'head', 'this is no request of HTTP/1.1, or more than one');
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

function endWith(socket: Socket, { status, headers, body }: MemoryReply): void {
  const all = { ...headers, 'Content-Length': Buffer.byteLength(String(body)), Connection: 'close' };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  if (socket.writable) socket.write(`HTTP/1.1 ${status} ${REASONS[status]}\r\n${head.join('')}\r\n${body}`);
  socket.destroySoon();
}
