/**
 * A client of the `memory-server` measurement: connections that are kept, one request at a time on each, written as
 * bytes and read as far as a tag and a length need it. It costs a fraction of what a server does for the same request.
 */
import { connect, type Socket } from 'node:net';

export interface LoadOptions {
  port: number;
  token: string;
  connections: number;
  requests: number;
}

/** Every tenth request writes 2 KB. */
const WRITES = 10;
const NOTE = [
  'The build needs Node 24; npm test runs the fast tests, and npm run campaign:kill the slow ones.',
  '- The parser of dates is in src/parser.ts: it reads ISO 8601 only, see docs/dates.md (2026-03-04).',
  '- Deploys read the API token from the vault, never from a file; ask in #ops for access.',
  '- 2026-02-11: the flaky test in api/session.test.ts was a clock that jumped back; fixed in 4f2a9c1.',
  '',
].join('\n');

/** Milliseconds that all requests took. Throws if an answer is not the one that was expected. */
export async function load({ port, token, connections, requests }: LoadOptions): Promise<number> {
  const clients = await Promise.all(
    Array.from({ length: connections }, (_, n) => Connection.open(port, token, n)),
  );
  for (const client of clients) await client.create();
  let left = requests;
  const since = performance.now();
  await Promise.all(
    clients.map(async (client) => {
      while (left-- > 0) await client.next(left);
    }),
  );
  const took = performance.now() - since;
  for (const client of clients) client.end();
  return took;
}

class Connection {
  readonly #socket: Socket;
  readonly #head: string;
  readonly #key: string;
  #tag = '';
  #read = '';
  #answered: ((head: string) => void) | null = null;
  #failed: ((error: Error) => void) | null = null;

  private constructor(socket: Socket, token: string, number: number) {
    this.#socket = socket;
    this.#key = `/v1/keys/notes/of-${number}-${process.hrtime.bigint()}.md`;
    this.#head = `Host: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n`;
    socket.setNoDelay(true).setEncoding('latin1');
    socket.on('data', (text: string) => this.#arrived(text));
    socket.on('error', (error) => this.#failed?.(error));
    socket.on('close', () => this.#failed?.(new Error('the server closed the connection')));
  }

  static open(port: number, token: string, number: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new Connection(socket, token, number)));
      socket.once('error', reject);
    });
  }

  create(): Promise<void> {
    return this.#write('If-None-Match: *', 0);
  }

  next(number: number): Promise<void> {
    return number % WRITES === 0 ? this.#write(`If-Match: ${this.#tag}`, number) : this.#look();
  }

  end(): void {
    this.#failed = null;
    this.#socket.destroy();
  }

  async #look(): Promise<void> {
    const head = await this.#send(
      `GET ${this.#key} HTTP/1.1\r\n${this.#head}If-None-Match: ${this.#tag}\r\n\r\n`,
    );
    if (!head.startsWith('HTTP/1.1 304')) throw new Error(`a look was answered with ${head.slice(0, 80)}`);
  }

  async #write(condition: string, number: number): Promise<void> {
    const body = `${number}\n${NOTE.repeat(6)}`.slice(0, 2048);
    const head = await this.#send(
      `PUT ${this.#key} HTTP/1.1\r\n${this.#head}${condition}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    if (!/^HTTP\/1\.1 20[01]/.test(head)) throw new Error(`a write was answered with ${head.slice(0, 80)}`);
    this.#tag = /\r\netag: (.*)\r\n/i.exec(head)?.[1] ?? '';
  }

  #send(request: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#answered = resolve;
      this.#failed = reject;
      this.#socket.write(request, 'latin1');
    });
  }

  #arrived(text: string): void {
    this.#read += text;
    const end = this.#read.indexOf('\r\n\r\n');
    if (end === -1) return;
    const head = this.#read.slice(0, end + 4);
    const length = head.startsWith('HTTP/1.1 304')
      ? 0
      : Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
    if (Number.isNaN(length)) this.#failed?.(new Error('an answer without a length'));
    if (!(this.#read.length >= end + 4 + length)) return;
    this.#read = this.#read.slice(end + 4 + length);
    this.#answered?.(head);
  }
}
