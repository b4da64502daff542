/**
 * The line between an agent's process and its host: calls with answers, notices without, in both directions.
 *
 * Invariants
 * 1. Everything arrives in the order in which it was said; what is said in one step of the event loop travels together.
 * 2. A call ends with an answer, an error, or the end of the line. An abort is passed on; the answering side decides.
 * 3. What is too large for a pipe goes through a private file, which its reader removes.
 */

import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { describeError, RametError } from '../../schema/errors.ts';
import { onAbort } from '../../system/on-abort.ts';
import { errorFromWire, type WireError, wireError } from './wire-error.ts';

const LARGEST_IN_PIPE = 1 << 20;

/** A context window full of images stays far below. */
const LARGEST_IN_FILE = 1 << 29;

const FILE_NAME = /^frame-[\w-]+$/;

/** Both ends of `child_process.fork` have these. */
export interface ProcessPort {
  send(frame: Uint8Array | string): void;
  onFrame(take: (frame: unknown) => void): void;
}

/** What goes over a line, as one end sees it: notices both ways, what it asks, and what it is asked. */
export interface Line {
  sent: unknown;
  received: unknown;
  calls: object;
  answers: object;
}

type Asks<Call> = Call extends { asks: infer Body } ? Body : never;
type Answer<Call> = Call extends { answer: infer Value } ? Value : never;

export type Answers<Calls> = {
  [Method in keyof Calls]: (body: Asks<Calls[Method]>, signal: AbortSignal) => Promise<Answer<Calls[Method]>>;
};

type Message<Notice> =
  | { kind: 'notice'; notice: Notice }
  | { kind: 'call'; id: number; method: string; body: unknown }
  | { kind: 'cancel'; id: number; reason: unknown }
  | { kind: 'answer'; id: number; value: unknown }
  | { kind: 'error'; id: number; error: WireError };

export interface ChannelOptions<Way extends Line> {
  /** For what does not fit the pipe. */
  spool: string;
  onNotice(notice: Way['received']): void;
  answers: Answers<Way['answers']>;
  /** The other side said something that nobody can understand: the line is of no use any more. */
  onBroken(reason: string): void;
}

/** Why work for the other end is aborted when it is gone. */
export const LINE_LOST = 'process_lost';

/** Calls under way; a response has at most some hundred tool calls. */
const MOST_CALLS = 10_000;

export class Channel<Way extends Line> {
  readonly #port: ProcessPort;
  readonly #options: ChannelOptions<Way>;
  readonly #calls = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #answering = new Map<number, { abort: AbortController; done: Promise<void> }>();
  #queue: Message<Way['sent']>[] = [];
  #lastCall = 0;
  #closed: Error | null = null;

  constructor(port: ProcessPort, options: ChannelOptions<Way>) {
    this.#port = port;
    this.#options = options;
    port.onFrame((frame) => this.#take(frame));
  }

  post(notice: Way['sent']): void {
    this.#say({ kind: 'notice', notice });
  }

  async call<Method extends keyof Way['calls'] & string>(
    method: Method,
    body: Asks<Way['calls'][Method]>,
    signal?: AbortSignal,
  ): Promise<Answer<Way['calls'][Method]>> {
    if (this.#closed !== null) throw this.#closed;
    const id = ++this.#lastCall;
    const call = Promise.withResolvers<unknown>();
    this.#calls.set(id, call);
    this.#say({ kind: 'call', id, method, body });
    const cancel = (): void => this.#say({ kind: 'cancel', id, reason: signal?.reason });
    const stopListening = signal === undefined ? null : onAbort(signal, cancel);
    try {
      // Both ends are one program, and its types say what answers what.
      return (await call.promise) as Answer<Way['calls'][Method]>;
    } finally {
      stopListening?.();
      this.#calls.delete(id);
    }
  }

  /** Nobody is at the other end any more: what was asked is not answered, what is being answered is called off. */
  close(reason: string): void {
    if (this.#closed !== null) return;
    this.#closed = new RametError('executor', 'terminal', reason);
    this.#queue = [];
    for (const call of this.#calls.values()) call.reject(this.#closed);
    for (const { abort } of this.#answering.values()) abort.abort(LINE_LOST);
  }

  /** Resolves when nothing is being answered. */
  async settled(): Promise<void> {
    await Promise.all(Array.from(this.#answering.values(), ({ done }) => done));
  }

  #say(message: Message<Way['sent']>): void {
    if (this.#closed !== null) return;
    if (this.#queue.push(message) === 1) queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    const messages = this.#queue;
    this.#queue = [];
    if (messages.length === 0) return;
    try {
      this.#port.send(packFrame(messages, this.#options.spool));
    } catch (error) {
      this.#options.onBroken(`what was to be said cannot be sent: ${describeError(error)}`);
    }
  }

  #take(frame: unknown): void {
    try {
      const messages = unpackFrame(frame, this.#options.spool);
      if (!Array.isArray(messages)) throw new Error('it sent no messages');
      for (const message of messages) if (this.#closed === null) this.#handle(message);
    } catch (error) {
      this.#options.onBroken(describeError(error));
    }
  }

  #handle(message: Message<Way['received']>): void {
    switch (message.kind) {
      case 'notice':
        this.#options.onNotice(message.notice);
        break;
      case 'call':
        this.#begin(message.id, message.method, message.body);
        break;
      case 'cancel':
        this.#answering.get(message.id)?.abort.abort(message.reason);
        break;
      case 'answer':
        this.#calls.get(message.id)?.resolve(message.value);
        break;
      case 'error':
        this.#calls.get(message.id)?.reject(errorFromWire(message.error));
        break;
      default:
        throw new Error('it sent a message of no known kind');
    }
  }

  #begin(id: number, method: string, body: unknown): void {
    if (this.#answering.size >= MOST_CALLS) throw new Error('it asks for too much at once');
    const { answers } = this.#options;
    if (!Object.hasOwn(answers, method)) throw new Error(`it asks for ${method}, which there is not`);
    // The same program on both ends: under this name it sends this body.
    const answer = answers[method as keyof Way['answers']] as (
      body: unknown,
      signal: AbortSignal,
    ) => Promise<unknown>;
    const abort = new AbortController();
    const done = this.#answer(id, async () => answer(body, abort.signal));
    this.#answering.set(id, { abort, done });
  }

  async #answer(id: number, work: () => Promise<unknown>): Promise<void> {
    // An answer that comes at once is noted as answering first.
    await null;
    try {
      this.#say({ kind: 'answer', id, value: await work() });
    } catch (error) {
      this.#say({ kind: 'error', id, error: wireError(error) });
    } finally {
      this.#answering.delete(id);
    }
  }
}

/** Messages as one frame: bytes for the pipe, or the name of a private file for what would clog it. */
function packFrame(messages: readonly unknown[], spool: string): Uint8Array | string {
  const bytes = serialize(messages);
  if (bytes.length <= LARGEST_IN_PIPE) return bytes;
  const name = `frame-${randomUUID()}`;
  mkdirSync(spool, { recursive: true, mode: 0o700 });
  writeFileSync(join(spool, name), bytes, { mode: 0o600, flag: 'wx' });
  return name;
}

/** Throws for what nobody of ours has packed. A file is removed once it is read. */
function unpackFrame(frame: unknown, spool: string): unknown {
  if (frame instanceof Uint8Array) return deserialize(frame);
  if (typeof frame !== 'string' || !FILE_NAME.test(frame)) throw new Error('it sent no frame');
  const path = join(spool, frame);
  try {
    const { size } = statSync(path);
    if (size > LARGEST_IN_FILE) throw new Error(`it sent ${size} bytes at once`);
    return deserialize(readFileSync(path));
  } finally {
    rmSync(path, { force: true });
  }
}
