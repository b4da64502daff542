/**
 * What standard input brings to a prompt. It is read where it is a pipe, a socket or a file, never from a terminal or
 * a device. A pipe that nobody writes to and nobody closes (cron, a service, a parent that forgot it) holds nothing up:
 * the first byte is waited for only so long. Once one has come the end is waited for: a program that works may be
 * silent for a while, which is told, and half of what it says is no prompt. After a long silence it is refused.
 */
import { addAbortSignal, type Readable } from 'node:stream';
import { type Clock, systemClock } from '../schema/clock.ts';
import { Cancelled, UserMistake } from '../schema/errors.ts';

export const FIRST_BYTE_MS = 3_000;
/** A pipe that has begun and is silent for this long has been forgotten. */
export const SILENCE_MS = 120_000;
/** More than the context window of any model holds. */
export const MOST_BYTES: number = 4 * 1024 * 1024;

export interface PipedInputOptions {
  readonly signal: AbortSignal;
  /** How long to wait for the first byte; for ever when absent. */
  readonly firstByteMs?: number;
  /** What has begun is silent for as long as one waits for a first byte: told once. */
  onSilence?(): void;
  readonly clock?: Clock;
}

/** All of it as text; null when no byte came in time, and then it is closed. */
export async function readPiped(input: Readable, options: PipedInputOptions): Promise<string | null> {
  const { signal } = options;
  try {
    const chunks = addAbortSignal(signal, input)[Symbol.asyncIterator]();
    const first = await nextWithin(options.firstByteMs, chunks.next(), options);
    if (first === null) {
      input.destroy();
      return null;
    }
    return await restOf(first, chunks, options);
  } catch (error) {
    throw signal.aborted ? new Cancelled(`interrupted (${signal.reason})`, { cause: error }) : error;
  }
}

/** Null when it did not come in time. */
async function nextWithin(
  ms: number | undefined,
  next: Promise<IteratorResult<unknown>>,
  { clock = systemClock, signal }: PipedInputOptions,
): Promise<IteratorResult<unknown> | null> {
  if (ms === undefined) return next;
  const came = new AbortController();
  const late = clock.sleep(ms, AbortSignal.any([came.signal, signal])).then(() => null);
  try {
    const first = await Promise.race([next, late]);
    // An interruption shows as an error of the stream.
    return first === null && signal.aborted ? await next : first;
  } finally {
    came.abort();
    // Closing the stream makes it fail, and then nobody waits for it.
    next.catch(() => {});
  }
}

async function restOf(
  first: IteratorResult<unknown>,
  chunks: AsyncIterator<unknown>,
  options: PipedInputOptions,
): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  let told = false;
  const following = async (): Promise<IteratorResult<unknown>> => {
    const coming = chunks.next();
    const soon = told ? null : await nextWithin(FIRST_BYTE_MS, coming, options);
    if (soon !== null) return soon;
    if (!told) options.onSilence?.();
    told = true;
    const late = await nextWithin(SILENCE_MS, coming, options);
    if (late === null) throw silent(bytes);
    return late;
  };
  for (let next = first; next.done !== true; next = await following()) {
    const part = Buffer.isBuffer(next.value) ? next.value : Buffer.from(String(next.value));
    bytes += part.length;
    if (bytes > MOST_BYTES) throw tooMuch();
    parts.push(part);
  }
  const whole = Buffer.concat(parts);
  if (whole.includes(0)) throw binary(whole.indexOf(0));
  return whole.toString('utf8');
}

function silent(bytes: number): UserMistake {
  return new UserMistake(
    'silent_input',
    `standard input brought ${bytes} bytes, then nothing for ${SILENCE_MS / 1000} seconds, and is still open: close it, or write what it brings to a file and name that in the prompt`,
  );
}

function binary(position: number): UserMistake {
  return new UserMistake(
    'binary_input',
    `standard input is no text (byte ${position + 1} is zero): write it to a file and name that in the prompt`,
  );
}

function tooMuch(): UserMistake {
  return new UserMistake(
    'input_too_large',
    `standard input is larger than ${MOST_BYTES / 1024 / 1024} MiB, too much for a prompt: write it to a file and name that in the prompt`,
  );
}
