/**
 * What stands between Ramet and the model in an outage campaign: it passes bytes on, and now and then it is away or
 * resets every connection. It keeps an account of its own of what has passed, by message, as a provider would.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { WireUsage } from '../../packages/ramet/src/model/wire.ts';

/** One response as it went through. */
export interface PassedMessage {
  id: string;
  /** As the start of the message counted it. */
  started: WireUsage;
  /** Null until its end has passed. */
  output: number | null;
}

export class Gateway {
  readonly #upstream: number;
  readonly #sockets = new Set<Socket>();
  readonly messages: Map<string, PassedMessage> = new Map();
  #server: Server | null = null;
  port = 0;
  resets = 0;
  /** Connections that were open when all were reset. */
  broken = 0;

  constructor(upstream: number) {
    this.#upstream = upstream;
  }

  /** Listens where it listened before. */
  open(): Promise<void> {
    const server = createServer((client) => this.#pass(client));
    this.#server = server;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.port, '127.0.0.1', () => {
        const address = server.address();
        if (typeof address === 'object' && address !== null) this.port = address.port;
        resolve();
      });
    });
  }

  /** Nobody can connect any more, and who is connected is cut off. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    const closed = new Promise((resolve) => server.close(resolve));
    this.#breakAll();
    await closed;
  }

  reset(): void {
    if (this.#server === null) return;
    this.resets += 1;
    this.broken += this.#sockets.size / 2;
    this.#breakAll();
  }

  #breakAll(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
    this.#sockets.clear();
  }

  #pass(client: Socket): void {
    const upstream = connect(this.#upstream, '127.0.0.1');
    const read = this.#accountant();
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(from);
      from.on('data', (chunk) => {
        if (from === upstream) read(chunk.toString());
        if (!to.destroyed) to.write(chunk);
      });
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        to.end();
      });
    }
  }

  /** Reads server-sent events as they pass. A message counts as whole once its last counted event has passed. */
  #accountant(): (text: string) => void {
    let rest = '';
    let current: PassedMessage | null = null;
    return (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (!line.startsWith('data: ')) continue;
        const event = parsed(line.slice(6));
        if (event?.type === 'message_start' && event.message) {
          current = { id: event.message.id, started: event.message.usage, output: null };
          this.messages.set(current.id, current);
        }
        if (event?.type === 'message_delta' && current) current.output = event.usage?.output_tokens ?? null;
      }
    };
  }
}

interface PassedEvent {
  type: string;
  message?: { id: string; usage: WireUsage };
  usage?: { output_tokens?: number };
}

function parsed(data: string): PassedEvent | null {
  try {
    // Our own emulator wrote it; chunk frames of HTTP make some lines no JSON.
    return JSON.parse(data) as PassedEvent;
  } catch {
    return null;
  }
}
