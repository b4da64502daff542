/**
 * A server as a process of this machine, in a group of its own, which is noted so that nothing of it outlives its host
 * (RES-8). Whatever it starts ends with it: its group, and by their mark daemons with a session of their own.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { describeError, systemCode } from '../../schema/errors.ts';
import { endMarked } from '../../system/processes/marked-processes.ts';
import {
  type ExpectedGroup,
  OWNER_VARIABLE,
  START_VARIABLE,
  terminateGroup,
} from '../../system/processes/process-group.ts';
import type { StdioServer } from './server-config.ts';
import { MessageLines } from './stdio-line.ts';

/** How long a server may take to end after its input has ended. */
const POLITE_MS = 300;
const LAST_WORDS = 2_000;
/** It did not end by itself. */
export const STOPPED = 'it was stopped';

export interface ServerProcesses {
  expect(): ExpectedGroup;
  enter(group: number): () => void;
}

export interface StdioPlace {
  readonly cwd: string;
  /** Scrubbed; the configuration's own variables are added. */
  readonly environment: Readonly<Record<string, string>>;
  readonly processes: ServerProcesses;
}

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  readonly #server: StdioServer;
  readonly #place: StdioPlace;
  #child: ChildProcess | null = null;
  #words = '';
  #ended: string | null = null;
  #gone: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(server: StdioServer, place: StdioPlace) {
    this.#server = server;
    this.#place = place;
  }

  /** How it ended; null while it runs. */
  get ended(): string | null {
    return this.#ended;
  }

  /** The end of what it said besides messages. */
  get lastWords(): string {
    return this.#words.trim();
  }

  /** The SDK knows a program's transport by these two: one that is slow to answer is then asked the older way. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get stderr(): null {
    return null;
  }

  async start(): Promise<void> {
    const { command, args, env, cwd, check } = this.#server;
    const { environment, processes, cwd: own } = this.#place;
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const directory = cwd ?? own;
    const why = check?.([command, ...args, ...variables], directory) ?? null;
    if (why !== null) throw new Error(why);
    const expected = processes.expect();
    // Its note stays while the server runs: what a killed host leaves is found by its token.
    const owner = processes.expect();
    try {
      const child = spawn(command, args, {
        cwd: directory,
        env: { ...environment, ...env, [START_VARIABLE]: expected.token, [OWNER_VARIABLE]: owner.token },
        detached: true,
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      this.#child = child;
      await begun(child);
      this.#follow(child, processes.enter(child.pid ?? 0), owner);
    } catch (error) {
      owner.settle();
      throw await notStarted(error, command, directory);
    } finally {
      expected.settle();
    }
  }

  #follow(child: ChildProcess, leave: () => void, owner: ExpectedGroup): void {
    const lines = new MessageLines({
      onMessage: (message) => this.onmessage?.(message),
      onNoise: (text) => this.#hear(`${text}\n`),
      onGivenUp: (reason) => {
        this.#ended ??= reason;
        void this.close();
      },
    });
    child.stdout?.on('data', (chunk: Buffer) => lines.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => this.#hear(chunk.toString('utf8')));
    // What is written to a server that has ended: its end says more.
    child.stdin?.on('error', () => {});
    const exited = new Promise<void>((resolve) => {
      child.once('exit', (code, signal) => {
        this.#ended ??= signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`;
        resolve();
      });
    });
    this.#gone = exited.then(async () => {
      await terminateGroup(child.pid ?? 0);
      await endMarked(`${OWNER_VARIABLE}=${owner.token}`);
      owner.settle();
      leave();
      child.stdout?.destroy();
      child.stderr?.destroy();
      this.onclose?.();
    });
  }

  #hear(text: string): void {
    this.#words = (this.#words + text).slice(-LAST_WORDS);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin;
    if (!input?.writable || this.#ended !== null) throw new Error(this.#ended ?? 'it is not running');
    const line = `${JSON.stringify(message)}\n`;
    await new Promise<void>((resolve, reject) => {
      input.write(line, (error) =>
        error ? reject(new Error(this.#ended ?? describeError(error))) : resolve(),
      );
    });
  }

  /** Waits a moment for its end. */
  async soonEnded(): Promise<void> {
    const waiting = Promise.withResolvers<void>();
    const timer = setTimeout(waiting.resolve, POLITE_MS);
    await Promise.race([this.#gone, waiting.promise]);
    clearTimeout(timer);
  }

  /** Ends its input, then the group. Resolves when nobody of it is left. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    if (!this.#isClosed) {
      this.#isClosed = true;
      child.stdin?.end();
      await this.soonEnded();
      this.#ended ??= STOPPED;
      await terminateGroup(child.pid);
    }
    await this.#gone;
  }
}

async function begun(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) throw await new Promise<unknown>((resolve) => child.once('error', resolve));
  child.on('error', () => {});
}

/** In words. For a program and for a directory that are not there the machine has one code. */
async function notStarted(error: unknown, command: string, cwd: string): Promise<Error> {
  const place = await stat(cwd).catch(() => null);
  if (place === null) return new Error(`there is no directory ${cwd}`);
  if (!place.isDirectory()) return new Error(`the cwd ${cwd} is no directory`);
  const code = systemCode(error);
  return new Error(
    code === 'ENOENT'
      ? `there is no program ${command}`
      : `${command} cannot be started: ${code ?? describeError(error)}`,
  );
}
