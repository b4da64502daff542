/**
 * One session in a world of its own: a repository, a `$RAMET_HOME`, an emulator, and real `ramet` processes that
 * can be killed. It owns starting, killing and looking; what must hold is the test's business.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { PACKAGE_ROOT } from '../../scripts/bundle.ts';
import {
  type Emulator,
  type EmulatorOptions,
  type RequestRecord,
  startEmulator,
} from '../../src/emulator/index.ts';
import type { AgentOverview } from '../../src/journal/projections/status.ts';
import { openReader } from '../../src/journal/sessions.ts';
import type { Usage } from '../../src/schema/usage.ts';
import { findPlace } from '../../src/sdk/place.ts';
import { unlessMissing } from '../fixtures/command.ts';
import { runHere } from '../fixtures/command-here.ts';
import { rebuiltRequests } from '../fixtures/rebuilt-requests.ts';
import { compiledOnce, temporaryDirectory, temporaryRepository } from '../fixtures/temporary.ts';
import { type CarefulModel, carefulModel } from './careful-model.ts';

const COMMAND = join(PACKAGE_ROOT, 'bin/ramet.js');
export const PROMPT = 'Do the work.';

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface Process {
  child: ChildProcessByStdio<null, Readable, Readable>;
  ended: Promise<Ended>;
}

export class KilledSession implements AsyncDisposable {
  readonly repository: string = temporaryRepository();
  readonly state: string = temporaryDirectory();
  readonly model: CarefulModel = carefulModel(this.state);
  /** What goes wrong with requests, until the first kill. */
  fault: EmulatorOptions['fault'];
  readonly #emulator: Emulator;
  readonly #env: NodeJS.ProcessEnv;
  #process: Process | null = null;

  /** Answered by the careful model unless told otherwise. */
  static async open(
    respond?: EmulatorOptions['respond'],
    env: NodeJS.ProcessEnv = {},
  ): Promise<KilledSession> {
    let session: KilledSession | undefined;
    const emulator = await startEmulator({
      respond: respond ?? ((view) => session?.model.respond(view)),
      fault: (view) => session?.fault?.(view),
    });
    session = new KilledSession(emulator, env);
    return session;
  }

  constructor(emulator: Emulator, env: NodeJS.ProcessEnv) {
    this.#emulator = emulator;
    this.#env = {
      PATH: process.env.PATH,
      RAMET_HOME: join(this.state, 'home'),
      ANTHROPIC_BASE_URL: emulator.url,
      ANTHROPIC_API_KEY: 'test',
      ...env,
    };
  }

  get requests(): readonly RequestRecord[] {
    return this.#emulator.requests;
  }

  get unmatched(): Emulator['unmatched'] {
    return this.#emulator.unmatched;
  }

  /** `ramet -p` with these arguments. */
  start(...args: string[]): Promise<Ended> {
    return this.startProgram(COMMAND, '-p', ...args).ended;
  }

  startProgram(...args: string[]): Process {
    const child = spawn(process.execPath, args, {
      cwd: this.repository,
      env: { ...this.#env, ...(args[0] === COMMAND ? {} : compiledOnce()) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = Promise.all([text(child.stdout), text(child.stderr)]);
    const ended = once(child, 'close').then(async ([code]): Promise<Ended> => {
      const [stdout, stderr] = await output;
      return { code, stdout, stderr };
    });
    this.#process = { child, ended };
    return this.#process;
  }

  /** Kills the process and waits until nobody works in the repository any more. */
  async kill(): Promise<Ended> {
    if (this.#process === null) throw new Error('nothing was started');
    const { child, ended } = this.#process;
    child.kill('SIGKILL');
    const end = await ended;
    this.fault = undefined;
    this.release();
    await this.until(() => !isAnybodyIn(this.repository));
    return end;
  }

  /** Makes the third command of the plan wait, until `release` or `kill`. */
  hold(): void {
    writeFileSync(join(this.state, 'hold'), '');
  }

  release(): void {
    rmSync(join(this.state, 'hold'), { force: true });
  }

  isHeld(): boolean {
    return existsSync(join(this.state, 'started'));
  }

  /** Whether the command has begun to record. */
  isHomeThere(): boolean {
    return existsSync(this.#env.RAMET_HOME ?? '');
  }

  /** The files of the repository, git's own apart. */
  files(): Record<string, string> {
    const names = readdirSync(this.repository).filter((name) => name !== '.git');
    return Object.fromEntries(names.map((name) => [name, readFileSync(join(this.repository, name), 'utf8')]));
  }

  async agents(): Promise<AgentOverview[]> {
    return JSON.parse(await this.#look('ps', '--json'));
  }

  async usage(): Promise<Usage> {
    return JSON.parse(await this.#look('cost', '--json')).total.usage;
  }

  async until(holds: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await unlessMissing(holds))) await sleep(2);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process?.child.exitCode === null && this.#process.child.signalCode === null) await this.kill();
    await this.#emulator.close();
  }

  /** What the session has sent, made again from its journal. */
  async rebuilt(): Promise<string[]> {
    const { session_id } = JSON.parse(await this.#look('show', '--json'));
    const { project } = findPlace({ cwd: this.repository, env: this.#env });
    const reader = openReader({ project, session: session_id });
    const bodies = rebuiltRequests(reader, session_id);
    reader.close();
    return bodies;
  }

  async #look(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await runHere(args, { cwd: this.repository, env: this.#env });
    if (code !== 0) throw new Error(`ramet ${args.join(' ')}: ${stderr}`);
    return stdout;
  }
}

/** A killed command leaves the shells it started: they end by themselves, a little later. */
function isAnybodyIn(directory: string): boolean {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .some((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`).startsWith(directory);
      } catch {
        return false; // it ended while being looked at
      }
    });
}
