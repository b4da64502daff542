/**
 * What standard input brings to a prompt. It is read where it is a pipe, a socket or a file, never from a terminal or
 * a device. A pipe that nobody writes to and nobody closes (cron, a service, a parent that forgot it) holds nothing up:
 * the first byte is waited for only so long; once one has come, the end is waited for.
 */
import { fstatSync } from 'node:fs';
import { addAbortSignal, type Readable } from 'node:stream';
import { type Clock, systemClock } from '../schema/clock.ts';
import { Cancelled, UserMistake } from '../schema/errors.ts';

export const FIRST_BYTE_MS = 3_000;
/** More than the context window of any model holds. */
export const MOST_BYTES: number = 4 * 1024 * 1024;

export interface PipedInputOptions {
  readonly signal: AbortSignal;
  /** How long to wait for the first byte; for ever when absent. */
  readonly firstByteMs?: number;
  readonly clock?: Clock;
}

export function bringsInput(descriptor: number): boolean {
  try {
    const stat = fstatSync(descriptor);
    return stat.isFIFO() || stat.isSocket() || stat.isFile();
  } catch {
    return false; // closed
  }
}

/** The argument of `-p` and what was piped, as one prompt. */
export function joinPrompt(argument: string, piped: string): string {
  if (argument.trim() === '') return piped.trim();
  return piped.trim() === '' ? argument : `${argument}\n\n${piped.trimEnd()}`;
}

/** All of it as text; null when no byte came in time, and then it is closed. */
export async function readPiped(input: Readable, options: PipedInputOptions): Promise<string | null> {
  const { signal } = options;
  try {
    const chunks = addAbortSignal(signal, input)[Symbol.asyncIterator]();
    const first = await firstOf(chunks, options);
    if (first === null) {
      input.destroy();
      return null;
    }
    return await restOf(first, chunks);
  } catch (error) {
    throw signal.aborted ? new Cancelled(`interrupted (${signal.reason})`, { cause: error }) : error;
  }
}

async function firstOf(
  chunks: AsyncIterator<unknown>,
  { firstByteMs, clock = systemClock, signal }: PipedInputOptions,
): Promise<IteratorResult<unknown> | null> {
  const next = chunks.next();
  if (firstByteMs === undefined) return next;
  const came = new AbortController();
  const late = clock.sleep(firstByteMs, AbortSignal.any([came.signal, signal])).then(() => null);
  try {
    const first = await Promise.race([next, late]);
    // Whoever is interrupted hears that from the stream.
    return first === null && signal.aborted ? await next : first;
  } finally {
    came.abort();
    // Closing the stream makes it fail, and then nobody waits for it.
    next.catch(() => {});
  }
}

async function restOf(first: IteratorResult<unknown>, chunks: AsyncIterator<unknown>): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for (let next = first; next.done !== true; next = await chunks.next()) {
    const part = Buffer.isBuffer(next.value) ? next.value : Buffer.from(String(next.value));
    bytes += part.length;
    if (bytes > MOST_BYTES) throw tooMuch();
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function tooMuch(): UserMistake {
  return new UserMistake(
    'input_too_large',
    `standard input is larger than ${MOST_BYTES / 1024 / 1024} MiB, too much for a prompt: write it to a file and name that in the prompt`,
  );
}
