/**
 * Starts programs by way of a small process. The system copies the page tables of a process that forks: about 6 ms for one of
 * 100 MB, with everything else at a standstill, and 1 ms for a small one. Who starts many programs asks for it once.
 *
 * Invariants
 * 1. A program runs as if it were started here: same directory, environment, input, output and end.
 * 2. The small process ends with this one; what it has started is not ended by that, as without it.
 * 3. Until it says that it is there, and when it has died, programs are started here. What it was told and had not begun is, too.
 * 4. If it dies before this one, what it had begun is ended, or has ended, before that is told: a second try meets no first one.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findProcess } from './process-identity.ts';

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
/** That it is there; that it has begun a program; how that ended. */
export type StarterReply = 'ready' | { id: number; pid: number } | ({ id: number } & StarterOutcome);

interface Call {
  readonly detached: boolean;
  /** Null until it has begun. */
  pid: number | null;
  began: ((pid: number) => void) | undefined;
  /** Null: it was not begun. */
  settle(end: ProgramEnd | null): void;
  fail(error: unknown): void;
}

/** Between two looks at a program, after the small process has died. */
const LOOK_MS = 20;

class Starter {
  readonly #child: ChildProcess;
  readonly #calls: Map<number, Call> = new Map();
  #last = 0;
  #isReady = false;

  constructor() {
    const { NODE_OPTIONS: _, ...env } = process.env;
    this.#child = spawn(process.execPath, [ENTRY], {
      ...{ env, serialization: 'advanced', stdio: ['ignore', 'ignore', 'ignore', 'ipc'] },
      // A key that interrupts this process on a terminal is for this process to pass on.
      detached: true,
    });
    this.#child.on('message', (reply: StarterReply) => this.#answered(reply));
    const ended = (): void => void this.#ended();
    this.#child.once('error', ended).once('disconnect', ended);
    this.#child.unref();
    this.#child.channel?.unref();
  }

  get isThere(): boolean {
    return this.#isReady && this.#child.connected;
  }

  get isGone(): boolean {
    return !this.#child.connected;
  }

  /** Fails as `spawn` does: with the system's error, or when it is aborted. Null if it did not come to it. */
  run(order: ProgramOrder, signal?: AbortSignal, began?: (pid: number) => void): Promise<ProgramEnd | null> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    this.#last += 1;
    const id = this.#last;
    const { promise, resolve, reject } = Promise.withResolvers<ProgramEnd | null>();
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
      ...{ detached: order.detached, pid: null, began },
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
    else void this.#ended();
  }

  #answered(reply: StarterReply): void {
    if (reply === 'ready') {
      this.#isReady = true;
      return;
    }
    const call = this.#calls.get(reply.id);
    if ('pid' in reply) {
      if (call !== undefined) call.pid = reply.pid;
      call?.began?.(reply.pid);
    } else if ('error' in reply) call?.fail(Object.assign(new Error(reply.error.message), reply.error));
    else call?.settle(reply);
  }

  /** Whether what was under way has happened is not known: as with a program that was killed. */
  async #ended(): Promise<void> {
    const calls = [...this.#calls.values()];
    if (calls.length === 0) return;
    endGroup(this.#child.pid);
    await Promise.all(
      calls.map(async ({ detached, pid, settle }) => {
        // What changes a user's files has a group of its own: it is not ended half-way.
        while (pid !== null && findProcess(pid)?.ended === false) await wait(LOOK_MS);
        settle(pid === null && !detached ? null : KILLED);
      }),
    );
  }
}

const KILLED: ProgramEnd = {
  ...{ end: 'SIGKILL', stdout: Buffer.alloc(0), stderr: Buffer.alloc(0), isTooMuch: false },
};

/** What it has started is in its group, unless it was to have one of its own. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody is left in it.
  }
}

let starter: Starter | null = null;
let users = 0;

/** Until it is disposed of, programs are started by the small process. */
export function startProgramsElsewhere(): Disposable {
  users += 1;
  if (starter === null || starter.isGone) starter = new Starter();
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
export async function runElsewhere(
  order: ProgramOrder,
  signal?: AbortSignal,
  began?: (pid: number) => void,
): Promise<ProgramEnd | null> {
  return starter?.isThere === true ? starter.run(order, signal, began) : null;
}

/** Bundled, every file that could hold this code lies one folder below the one of all bundles. */
const ENTRY = fileURLToPath(
  new URL(
    import.meta.url.endsWith('.ts') ? './starter-main.ts' : '../system/starter-main.js',
    import.meta.url,
  ),
);
