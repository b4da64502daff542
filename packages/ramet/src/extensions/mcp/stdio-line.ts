/**
 * Messages of a server, out of what it writes: one JSON object a line. What a server writes is not to be trusted to be
 * small, or to be messages.
 *
 * Invariants
 * 1. No more than one message of the largest size is held at once.
 * 2. An answer that is too large fails the call that it is for, not the connection.
 * 3. A server that writes on and on without a message, or without answering anything, is given up.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';

export const LARGEST_MESSAGE: number = 32 << 20;
const MOST_NOISE = 16 << 20;
/** Notes and questions of a server between two of its answers. */
const MOST_UNASKED = 20_000;
const HEAD_BYTES = 4_096;
const NEWLINE = 0x0a;

/** Of the message itself: what it carries may hold ids too. */
const ID_FIRST = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+|"[^"\\]{1,100}")\s*,/;
const ID_LAST = /"id"\s*:\s*(\d+|"[^"\\]{1,100}")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

export interface LineListener {
  onMessage(message: JSONRPCMessage): void;
  /** A line that is no message: logs, mostly. */
  onNoise(text: string): void;
  /** Nothing that follows can be used. */
  onGivenUp(reason: string): void;
}

/** Sees messages of a server; `isFlood` once there are too many between two of its answers. */
export class FloodWatch {
  #unasked = 0;

  sees(message: JSONRPCMessage): void {
    this.#unasked = 'method' in message ? this.#unasked + 1 : 0;
  }

  get isFlood(): boolean {
    return this.#unasked > MOST_UNASKED;
  }
}

export const FLOOD = 'it sends message after message and answers nothing';

export class MessageLines {
  readonly #listener: LineListener;
  #parts: Buffer[] = [];
  #length = 0;
  /** Of lines that were no messages, since the last that was one. */
  #noise = 0;
  readonly #flood = new FloodWatch();
  /** The last bytes of a line that is too long: most servers write the id there. */
  #tail: Buffer = Buffer.alloc(0);
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

  /** Of a line that is too long only the beginning and the end are kept: they may say which call it answers. */
  #hold(part: Buffer): void {
    this.#length += part.length;
    if (this.#length <= LARGEST_MESSAGE) {
      this.#parts.push(part);
      return;
    }
    const ends = [...(this.#tail.length > 0 ? [this.#tail] : this.#parts.slice(-2)), part];
    this.#tail = Buffer.from(
      Buffer.concat(ends.map((one) => one.subarray(-HEAD_BYTES))).subarray(-HEAD_BYTES),
    );
    const [head = part, next = part] = this.#parts;
    this.#parts = [Buffer.from(Buffer.concat([head, next]).subarray(0, HEAD_BYTES))];
    if (this.#length > 64 * LARGEST_MESSAGE) this.#giveUp('it writes a line without end');
  }

  #endLine(): void {
    const length = this.#length;
    const line = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#length = 0;
    const tail = this.#tail.toString('latin1');
    this.#tail = Buffer.alloc(0);
    if (length > LARGEST_MESSAGE) this.#tooLarge(line.toString('latin1', 0, HEAD_BYTES), tail, length);
    else this.#read(line.toString('utf8').trim());
  }

  #read(text: string): void {
    if (text === '') return;
    const message = text.startsWith('{') ? parsed(text) : null;
    if (message !== null) {
      this.#noise = 0;
      this.#flood.sees(message);
      if (this.#flood.isFlood) this.#giveUp(FLOOD);
      else this.#listener.onMessage(withResult(message));
      return;
    }
    this.#noise += text.length + 1;
    this.#listener.onNoise(text);
    if (this.#noise > MOST_NOISE) this.#giveUp('it floods its output with what is no message');
  }

  #tooLarge(head: string, tail: string, length: number): void {
    const id = (ID_FIRST.exec(head) ?? ID_LAST.exec(tail))?.[1];
    const size = tooLarge(length);
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

/** The size of a message that is too large, and the limit; only the limit where the size, 0, is unknown. */
export function tooLarge(length: number): string {
  const size = length > LARGEST_MESSAGE ? `${Math.round(length / (1 << 20))} MB, ` : '';
  return `${size}more than the ${LARGEST_MESSAGE >> 20} MB that are read`;
}

/** An answer without a result would be passed over, and waited for until the time is over. */
function withResult(message: JSONRPCMessage): JSONRPCMessage {
  if ('method' in message || 'error' in message || !('id' in message) || message.id === undefined)
    return message;
  // What a server sends may have any shape.
  const { result } = message as { result?: unknown };
  if (typeof result === 'object' && result !== null && !Array.isArray(result)) return message;
  const text = `its answer has no result: ${(JSON.stringify(result) ?? 'nothing').slice(0, 100)} is no object`;
  return { jsonrpc: '2.0', id: message.id, error: { code: -32603, message: text } };
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
