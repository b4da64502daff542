/**
 * Starts programs by way of a small process. The system copies the page tables of a process that forks: about 6 ms for one of
 * 100 MB, with everything else at a standstill, and 1 ms for a small one. Who starts many programs asks for it once.
 *
 * Invariants
 * 1. A program runs as if it were started here: same directory, environment, input, output and end.
 * 2. The small process ends with this one; what it has started is not ended by that, as without it.
 * 3. If it cannot be started, or has died, programs are started here again.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface ProgramOrder {
  program: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  input?: string | Uint8Array | undefined;
  /** A process group of its own. */
  detached: boolean;
  /** One that prints more is ended. */
  mostBytes: number;
}

export interface ProgramEnd {
  /** Its exit code, or the signal that ended it. */
  end: number | string;
  stdout: Buffer;
  stderr: Buffer;
  isTooMuch: boolean;
}

export type StarterOrder = { id: number } & ProgramOrder;
export type StarterMessage = StarterOrder | { stop: number };
export type StarterOutcome = ProgramEnd | { error: { message: string; code?: string } };
type StarterReply = { id: number } & StarterOutcome;

interface Call {
  settle(end: ProgramEnd): void;
  fail(error: unknown): void;
}

class Starter {
  readonly #child: ChildProcess;
  readonly #calls: Map<number, Call> = new Map();
  #last = 0;

  constructor() {
    const { NODE_OPTIONS: _, ...env } = process.env;
    this.#child = spawn(process.execPath, [ENTRY], {
      ...{ env, serialization: 'advanced', stdio: ['ignore', 'ignore', 'ignore', 'ipc'] },
      // A key that interrupts this process on a terminal is for this process to pass on.
      detached: true,
    });
    this.#child.on('message', (reply: StarterReply) => this.#answered(reply));
    this.#child.once('error', () => this.#ended()).once('disconnect', () => this.#ended());
    this.#child.unref();
    this.#child.channel?.unref();
  }

  get isThere(): boolean {
    return this.#child.connected;
  }

  /** Fails as `spawn` does: with the system's error, or when it is aborted. */
  run(order: ProgramOrder, signal: AbortSignal | undefined): Promise<ProgramEnd> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    this.#last += 1;
    const id = this.#last;
    const { promise, resolve, reject } = Promise.withResolvers<ProgramEnd>();
    const stop = (): void => {
      this.#send({ stop: id });
      this.#calls.get(id)?.fail(signal?.reason);
    };
    const over = (): void => {
      this.#calls.delete(id);
      signal?.removeEventListener('abort', stop);
      if (this.#calls.size === 0) this.#child.channel?.unref();
    };
    this.#calls.set(id, {
      settle: (end) => [over(), resolve(end)],
      fail: (error) => [over(), reject(error)],
    });
    this.#child.channel?.ref();
    signal?.addEventListener('abort', stop);
    this.#send({ id, ...order });
    return promise;
  }

  close(): void {
    if (this.#child.connected && this.#calls.size === 0) this.#child.disconnect();
  }

  #send(message: StarterMessage): void {
    if (this.#child.connected) this.#child.send(message, () => {});
    else this.#ended();
  }

  #answered(reply: StarterReply): void {
    const call = this.#calls.get(reply.id);
    if ('error' in reply) call?.fail(Object.assign(new Error(reply.error.message), reply.error));
    else call?.settle(reply);
  }

  /** Whether what was under way has happened is not known: as with a program that was killed. */
  #ended(): void {
    for (const { settle } of [...this.#calls.values()])
      settle({ end: 'SIGKILL', stdout: Buffer.alloc(0), stderr: Buffer.alloc(0), isTooMuch: false });
  }
}

let starter: Starter | null = null;
let users = 0;

/** Until it is disposed of, programs are started by the small process. */
export function startProgramsElsewhere(): Disposable {
  users += 1;
  if (starter?.isThere !== true) starter = new Starter();
  return {
    [Symbol.dispose]() {
      users -= 1;
      if (users > 0) return;
      starter?.close();
      starter = null;
    },
  };
}

/** Null where programs are started here. */
export function runElsewhere(order: ProgramOrder, signal?: AbortSignal): Promise<ProgramEnd> | null {
  return starter?.isThere === true ? starter.run(order, signal) : null;
}

/** Bundled, every file that could hold this code lies one folder below the one of all bundles. */
const ENTRY = fileURLToPath(
  new URL(
    import.meta.url.endsWith('.ts') ? './starter-main.ts' : '../system/starter-main.js',
    import.meta.url,
  ),
);
