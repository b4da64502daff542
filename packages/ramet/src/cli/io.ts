/**
 * The process around a command: its output, environment, signals and exit codes. Commands write through `CommandIo`, so
 * tests can read it.
 */
import { closeSync, fstatSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { firstError, RametError, systemCode, UserMistake } from '../schema/errors.ts';
import type { Caller } from '../sdk/calls/caller.ts';
import type { AgentResult } from '../sdk/index.ts';
import { isModelKey } from '../system/child-environment.ts';
import { printable } from '../views/text/format.ts';
import { nearWord } from './near-word.ts';

export interface CommandIo {
  out(text: string): void;
  /** Whether a person reads standard output on a screen. */
  readonly isTerminal: boolean;
  /** What is piped to the command: null for a terminal or a device. Absent where standard input is not the command's own. */
  piped?(): Readable | null;
  /** How wide that screen is now; null without one. */
  readonly columns: number | null;
  readonly rows?: number | null;
  /** One line for people, on standard error, with the program's name before it. */
  note(line: string): void;
  /** What is happening now: a line on standard error, for a person at a terminal only. */
  progress(line: string): void;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Aborts with the signal's name as the reason. */
  readonly signal: AbortSignal;
  /** A second signal ends the process at once, unless someone says here what it does; a third one always ends it. */
  onSecondSignal?(act: (name: NodeJS.Signals) => void): void;
  /** Ends the process although work is under way, which the journal has. */
  endNow?(code: number): void;
}

/** What a call of the library takes of it. */
export function callFrom({ cwd, env, signal, note, progress }: CommandIo): Caller {
  return { cwd, env, signal, note, progress };
}

/** The same process with another environment. */
export function withEnvironment(io: CommandIo, env: NodeJS.ProcessEnv): CommandIo {
  return {
    ...io,
    env,
    get columns() {
      return io.columns;
    },
    get rows() {
      return io.rows ?? null;
    },
    get cwd() {
      return io.cwd;
    },
  };
}

/**
 * A closed pipe (`ramet ps | head -1`) or terminal ends the output, not the work. An output that cannot be written,
 * such as a full disk, is told and makes the command fail: `onOutputLost`.
 */
export function processIo({ signal, onSecondSignal }: Interruption, onOutputLost: () => void): CommandIo {
  process.stderr.on('error', () => {});
  process.stdout.on('error', (error) => {
    const code = systemCode(error);
    // A terminal that was closed says EIO, and so does a disk that fails.
    if (code === 'EPIPE' || (code === 'EIO' && process.stdout.isTTY)) return;
    process.stderr.write(`ramet: cannot write to standard output: ${code ?? 'it failed'}\n`);
    onOutputLost();
  });
  return {
    out: (text) => void process.stdout.write(text),
    isTerminal: process.stdout.isTTY === true,
    piped: () => (bringsInput(0) ? process.stdin : null),
    get columns() {
      return process.stdout.isTTY === true ? process.stdout.columns || null : null;
    },
    get rows() {
      return process.stdout.isTTY === true ? process.stdout.rows || null : null;
    },
    note: (line) => void process.stderr.write(`ramet: ${printable(line)}\n`),
    progress: (line) => void (process.stderr.isTTY && process.stderr.write(`${line}\n`)),
    env: takeEnvironment(),
    get cwd() {
      return currentDirectory();
    },
    signal,
    onSecondSignal,
    endNow: (code) => process.exit(code),
  };
}

export function bringsInput(descriptor: number): boolean {
  try {
    const stat = fstatSync(descriptor);
    return stat.isFIFO() || stat.isSocket() || stat.isFile();
  } catch {
    return false; // closed
  }
}

function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new UserMistake('no_directory', 'the current directory no longer exists: change to another one', {
      cause: error,
    });
  }
}

/**
 * The environment as it was given, keys included; afterwards neither `process.env` nor `/proc` has the keys that pay
 * for models. Every program of the same user can read `/proc/PID/environ`, and deleting a variable does not change it.
 * So the keys are overwritten in place, through `/proc/self/mem`: 0.1 ms; starting again without them would take 40.
 */
function takeEnvironment(): NodeJS.ProcessEnv {
  const env = { ...process.env };
  const keys = Object.keys(env).filter(isModelKey);
  if (keys.length === 0) return env;
  try {
    if (process.platform === 'linux') overwrite(new Set(keys));
  } catch {
    // A kernel that does not let us: commands are still judged, and asked about, when they look into /proc.
  }
  for (const key of keys) delete process.env[key];
  return env;
}

/** Fields of `/proc/self/stat` after the program's name, which may contain blanks. */
const ENV_START = 47;

const ENV_END = 48;

function overwrite(names: ReadonlySet<string>): void {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [start, end] = [Number(fields[ENV_START]), Number(fields[ENV_END])];
  if (!(start > 0 && end > start)) return;
  const memory = openSync('/proc/self/mem', 'r+');
  try {
    const text = Buffer.alloc(end - start);
    readSync(memory, text, 0, text.length, start);
    for (let from = 0; from < text.length; ) {
      const stop = text.indexOf(0, from);
      const until = stop === -1 ? text.length : stop;
      const equals = text.indexOf('=', from);
      const isKey = equals !== -1 && equals < until && names.has(text.toString('utf8', from, equals));
      if (isKey)
        writeSync(memory, Buffer.alloc(until - equals - 1), 0, until - equals - 1, start + equals + 1);
      from = until + 1;
    }
  } finally {
    closeSync(memory);
  }
}

/** Variables for users. */
const SETTINGS =
  'RAMET_HOME RAMET_PROVIDER RAMET_NOTIFY RAMET_MEMORY_SERVER RAMET_MEMORY_TOKEN RAMET_MAX_RETRIES RAMET_CONTEXT_WINDOW RAMET_CHILD_ENV RAMET_STRICT_PREFIX RAMET_MANAGED_DIR RAMET_TRUST RAMET_COORDINATOR_MODE RAMET_SETTINGS RAMET_SETTING_SOURCES RAMET_BARE ' +
  'RAMET_MODEL_HAIKU RAMET_MODEL_SONNET RAMET_MODEL_OPUS RAMET_MODEL_FABLE';

/** What Ramet sets for programs of agents, and its tests for themselves. */
const INTERNAL =
  'RAMET_AGENT RAMET_START RAMET_OWNER RAMET_TASK RAMET_WORKTREE RAMET_SLOT RAMET_CHECK_SLOT RAMET_PORT_BASE RAMET_CHECKOUT RAMET_CHECKOUT_STATE RAMET_REAL_GIT ' +
  'RAMET_GIT_HELPER RAMET_GIT_LOCK RAMET_GIT_PLAIN_DIFF RAMET_TRAILERS RAMET_SPOOL RAMET_TEST_SANDBOX RAMET_TEST_MANNER ' +
  'RAMET_TOKEN RAMET_SERVER_TOKEN RAMET_MEMORY_KEY_FILE';

export const KNOWN_VARIABLES: readonly string[] = [...SETTINGS.split(' '), ...INTERNAL.split(' ')];

/** One line for each RAMET_ variable that means nothing: it is most likely misspelt. */
export function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith('RAMET_') && !KNOWN_VARIABLES.includes(name),
  );
  if (unknown.length === 0) return [];
  return unknown.map((name) => {
    const meant = nearWord(name, SETTINGS.split(' '));
    return `the variable ${name} means nothing to Ramet${meant === null ? '' : `: did you mean ${meant}?`}`;
  });
}

/** 75 is for a usage limit or a provider that is away; 130 also for an interruption without a signal. */
export const EXIT = {
  done: 0,
  failed: 1,
  wrongUse: 2,
  limited: 75,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

export function exitCodeOf({ status, cause }: Pick<AgentResult, 'status' | 'cause'>): number {
  if (status === 'done') return EXIT.done;
  if (status !== 'interrupted') return EXIT.failed;
  if (cause === 'limit' || cause === 'provider') return EXIT.limited;
  if (cause === 'SIGHUP') return EXIT.hungUp;
  return cause === 'SIGTERM' ? EXIT.terminated : EXIT.interrupted;
}

/** The reason of `signal` is what cancelled the command. */
export function exitCodeOfError(thrown: unknown, signal: AbortSignal): number {
  const error = firstError(thrown);
  const family = error instanceof RametError ? error.family : 'terminal';
  if (family === 'cancelled') return exitCodeOf({ status: 'interrupted', cause: String(signal.reason) });
  return family === 'mistake' ? EXIT.wrongUse : EXIT.failed;
}

type Interruption = Required<Pick<CommandIo, 'signal' | 'onSecondSignal'>>;

/** Ctrl-C once asks the work to end and leaves the journal whole; twice ends the process at once. */
export function interruption(): Interruption {
  const controller = new AbortController();
  let second: ((name: NodeJS.Signals) => void) | null = null;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      const act = second;
      if (!controller.signal.aborted) controller.abort(name);
      else if (act === null) process.exit(exitCodeOf({ status: 'interrupted', cause: name }));
      else {
        second = null;
        act(name);
      }
    });
  }
  return {
    signal: controller.signal,
    onSecondSignal: (act) => {
      second = act;
    },
  };
}
