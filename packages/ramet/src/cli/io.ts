/** Where a command's output goes. Commands write through this, so tests can look at it. */
import { UserMistake } from '../schema/errors.ts';

export interface CommandIo {
  out(text: string): void;
  /** Whether a person reads standard output on a screen. */
  readonly isTerminal: boolean;
  /** One line for people, on standard error, with the program's name before it. */
  note(line: string): void;
  /** What goes on just now: a line on standard error, for a person at a terminal only. */
  progress(line: string): void;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Aborts with the signal's name as the reason. */
  readonly signal: AbortSignal;
}

/** A closed pipe (`ramet ps | head -1`), or a terminal that is gone, ends the output and not the work. */
export function processIo(signal: AbortSignal): CommandIo {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
    });
  }
  return {
    out: (text) => void process.stdout.write(text),
    isTerminal: process.stdout.isTTY === true,
    note: (line) => void process.stderr.write(`ramet: ${line}\n`),
    progress: (line) => void (process.stderr.isTTY && process.stderr.write(`${line}\n`)),
    env: process.env,
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
