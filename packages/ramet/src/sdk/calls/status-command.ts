/**
 * Runs the user's command for the status line once: JSON in, the first lines of its output out. It has a process group of its
 * own, which ends with it: one that hangs, floods or leaves programs behind costs a bounded time and no more.
 */
import { spawn } from 'node:child_process';
import { type Clock, systemClock } from '../../schema/clock.ts';
import { describeError } from '../../schema/errors.ts';
import type { StatusLineSettings } from '../../settings/settings.ts';
import { childEnvironment, forTrustedCommand } from '../../system/child-environment.ts';
import { signalGroup } from '../../system/processes/process-group.ts';
import { safeLine } from '../../views/text/format.ts';
import type { SessionOptions } from '../options.ts';
import { sessionSettings } from '../session/setup/session-settings.ts';

/** What the settings say, if they name a command. */
export type StatusLineCommand = StatusLineSettings & { readonly command: string };

/** The command that supplies the status line of a conversation; null without one. */
export async function statusLineSetting(
  options: Pick<SessionOptions, 'cwd' | 'env' | 'settings'>,
): Promise<StatusLineCommand | null> {
  const { statusLine } = (await sessionSettings(options)).settings;
  return statusLine?.command === undefined ? null : { ...statusLine, command: statusLine.command };
}

export interface StatusCommand {
  readonly command: string;
  /** Why it must not run now. */
  readonly whyNot?: StatusLineSettings['whyNot'];
  readonly cwd: string;
  /** Of the user: it gets what programs of agents get. */
  readonly env: NodeJS.ProcessEnv;
  readonly size: { readonly columns: number; readonly rows: number };
  /** For its standard input. */
  readonly input: string;
  /** Ends it at once. */
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

export type StatusOutcome = { readonly lines: readonly string[] } | { readonly problem: string };

const MOST_MS = 5_000;
/** More than any screen shows of three lines, colours included. */
const MOST_BYTES = 16_384;
const MOST_ERRORS = 65_536;
const MOST_LINES = 3;
/** What was written just before the end may still be on its way. */
const LAST_BYTES_MS = 50;
const LONGEST_REASON = 200;

export async function runStatusCommand(wanted: StatusCommand): Promise<StatusOutcome> {
  const { command, cwd, input, signal, clock = systemClock } = wanted;
  const env = environmentFor(wanted);
  if (signal.aborted) return { lines: [] };
  const problem = wanted.whyNot?.(cwd) ?? null;
  if (problem !== null) return { problem };
  const child = spawn('sh', ['-c', command], { cwd, env, detached: true, stdio: 'pipe' });
  const { pid } = child;
  const ended = Promise.withResolvers<StatusOutcome>();
  const waits = new AbortController();
  const kill = (): void => void (pid !== undefined && signalGroup(pid, 'SIGKILL'));
  const output = gathered(child.stdout, MOST_BYTES, () => ended.resolve(cut()));
  const errors = gathered(child.stderr, MOST_ERRORS, () =>
    ended.resolve({ problem: 'it writes too much to standard error' }),
  );
  const cut = (): StatusOutcome => ({ lines: firstLines(output().toString('utf8')) });
  const closed = new Promise((resolve) => child.once('close', resolve));
  child.once('error', (error) =>
    ended.resolve({ problem: `it could not be started (${describeError(error)})` }),
  );
  child.once('exit', async (code, by) => {
    await Promise.race([closed, clock.sleep(LAST_BYTES_MS, waits.signal)]);
    if (code === 0) ended.resolve(cut());
    else ended.resolve({ problem: `it ended with ${by ?? `exit code ${code}`}${reasonOf(errors())}` });
  });
  child.stdin.on('error', () => {}).end(input);
  void clock.sleep(MOST_MS, waits.signal, { keepsAlive: false }).then(() => {
    if (!waits.signal.aborted) ended.resolve({ problem: `it took longer than ${MOST_MS / 1_000} s` });
  });
  const stop = (): void => ended.resolve({ lines: [] });
  signal.addEventListener('abort', stop, { once: true });
  // The process may end before any of this is waited for.
  signal.addEventListener('abort', kill, { once: true });
  const outcome = await ended.promise;
  signal.removeEventListener('abort', stop);
  signal.removeEventListener('abort', kill);
  waits.abort();
  child.stdout.destroy();
  child.stderr.destroy();
  // Whatever is left of it has no one to write to, and may ignore a signal that asks.
  kill();
  return outcome;
}

/** Git takes no locks for it: agents may be committing. */
function environmentFor({ env, size }: StatusCommand): Record<string, string> {
  const shape = { COLUMNS: String(size.columns), LINES: String(size.rows) };
  return { ...forTrustedCommand(childEnvironment(env)), ...shape, GIT_OPTIONAL_LOCKS: '0' };
}

function gathered(stream: NodeJS.ReadableStream, most: number, full: () => void): () => Buffer {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('error', () => {});
  stream.on('data', (chunk: Buffer) => {
    if (size >= most) return;
    chunks.push(chunk);
    size += chunk.length;
    if (size >= most) full();
  });
  return () => Buffer.concat(chunks).subarray(0, most);
}

/** The blank line at the end is none. */
function firstLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1)?.trim() === '') lines.pop();
  return lines.slice(0, MOST_LINES);
}

function reasonOf(errors: Buffer): string {
  const reason = safeLine(errors.toString('utf8', 0, LONGEST_REASON));
  return reason === '' ? '' : `: ${reason}`;
}
