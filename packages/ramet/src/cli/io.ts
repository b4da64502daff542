/** Where a command's output goes. Commands write through this, so tests can look at it. */

import { systemCode, UserMistake } from '../schema/errors.ts';
import type { Caller } from '../sdk/calls/caller.ts';
import { printable } from '../views/text/format.ts';
import { takeEnvironment } from './hide-keys.ts';

export interface CommandIo {
  out(text: string): void;
  /** Whether a person reads standard output on a screen. */
  readonly isTerminal: boolean;
  /** How wide that screen is; null where there is none. */
  readonly columns: number | null;
  /** One line for people, on standard error, with the program's name before it. */
  note(line: string): void;
  /** What goes on just now: a line on standard error, for a person at a terminal only. */
  progress(line: string): void;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Aborts with the signal's name as the reason. */
  readonly signal: AbortSignal;
}

/** What a call of the library takes of it. */
export function callFrom({ cwd, env, signal, note, progress }: CommandIo): Caller {
  return { cwd, env, signal, note, progress };
}

/**
 * A closed pipe (`ramet ps | head -1`) or terminal ends the output, not the work. An output that cannot be written, such as a
 * full disk, is told and makes the command fail: `onOutputLost`.
 */
export function processIo(signal: AbortSignal, onOutputLost: () => void): CommandIo {
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
    columns: process.stdout.isTTY === true ? process.stdout.columns || null : null,
    note: (line) => void process.stderr.write(`ramet: ${printable(line)}\n`),
    progress: (line) => void (process.stderr.isTTY && process.stderr.write(`${line}\n`)),
    env: takeEnvironment(),
    get cwd() {
      return currentDirectory();
    },
    signal,
  };
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
