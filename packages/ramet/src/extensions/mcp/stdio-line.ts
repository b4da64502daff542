/**
 * Messages of a server, out of what it writes: one JSON object a line. What a server writes is not to be trusted to be
 * small, or to be messages.
 *
 * Invariants
 * 1. No more than one message of the largest size is held at once.
 * 2. An answer that is too large fails the call that it is for, not the connection.
 * 3. A server that writes on and on without a message is given up.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';

export const LARGEST_MESSAGE: number = 32 << 20;
const MOST_NOISE = 16 << 20;
const HEAD_BYTES = 4_096;
const NEWLINE = 0x0a;

export interface LineListener {
  onMessage(message: JSONRPCMessage): void;
  /** A line that is no message: logs, mostly. */
  onNoise(text: string): void;
  /** Nothing that follows can be used. */
  onGivenUp(reason: string): void;
}

export class MessageLines {
  readonly #listener: LineListener;
  #parts: Buffer[] = [];
  #length = 0;
  /** Of lines that were no messages, since the last that was one. */
  #noise = 0;
  #isOver = false;

  constructor(listener: LineListener) {
    this.#listener = listener;
  }

  push(chunk: Buffer): void {
    let from = 0;
    while (!this.#isOver && from < chunk.length) {
      const end = chunk.indexOf(NEWLINE, from);
      if (end === -1) {
        this.#hold(chunk.subarray(from));
        return;
      }
      this.#hold(chunk.subarray(from, end));
      this.#endLine();
      from = end + 1;
    }
  }

  /** Of a line that is too long only the beginning is kept: it may say which call it answers. */
  #hold(part: Buffer): void {
    this.#length += part.length;
    if (this.#length <= LARGEST_MESSAGE) {
      this.#parts.push(part);
      return;
    }
    const head = Buffer.concat(this.#parts).subarray(0, HEAD_BYTES);
    this.#parts = [head.length > 0 ? Buffer.from(head) : Buffer.from(part.subarray(0, HEAD_BYTES))];
    if (this.#length > 64 * LARGEST_MESSAGE) this.#giveUp('it writes a line without end');
  }

  #endLine(): void {
    const length = this.#length;
    const line = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#length = 0;
    if (length > LARGEST_MESSAGE) this.#tooLarge(line.toString('utf8', 0, HEAD_BYTES), length);
    else this.#read(line.toString('utf8').trim());
  }

  #read(text: string): void {
    if (text === '') return;
    const message = text.startsWith('{') ? parsed(text) : null;
    if (message !== null) {
      this.#noise = 0;
      this.#listener.onMessage(message);
      return;
    }
    this.#noise += text.length + 1;
    this.#listener.onNoise(text);
    if (this.#noise > MOST_NOISE) this.#giveUp('it floods its output with what is no message');
  }

  #tooLarge(head: string, length: number): void {
    const id = /"id"\s*:\s*(\d+|"[^"]{1,100}")/.exec(head)?.[1];
    const size = `${Math.round(length / (1 << 20))} MB, more than the ${LARGEST_MESSAGE >> 20} MB that are read`;
    if (id === undefined) {
      this.#giveUp(`it sent a message of ${size}`);
      return;
    }
    const message = `the answer has ${size}: ask for less`;
    this.#listener.onMessage({ jsonrpc: '2.0', id: JSON.parse(id), error: { code: -32603, message } });
  }

  #giveUp(reason: string): void {
    this.#isOver = true;
    this.#parts = [];
    this.#listener.onGivenUp(reason);
  }
}

function parsed(text: string): JSONRPCMessage | null {
  try {
    const value: unknown = JSON.parse(text);
    const isMessage = typeof value === 'object' && value !== null && 'jsonrpc' in value;
    // The client looks at every field of a message before it uses it.
    return isMessage && value.jsonrpc === '2.0' ? (value as JSONRPCMessage) : null;
  } catch {
    return null;
  }
}
