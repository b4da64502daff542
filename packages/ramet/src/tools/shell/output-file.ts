/**
 * The file that takes a command's output: nothing of it passes through our memory but what is shown. It is private
 * (0600), and cleaned before it stays: readable text without escape sequences and without secrets.
 */
import { closeSync, constants, createReadStream, fstatSync, mkdirSync, openSync, readSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../schema/errors.ts';
import { describeSize, headOf, stripAnsi, tailOf } from '../../system/text/visible-text.ts';

export interface OutputFile {
  path: string;
  descriptor: number;
}

/** Takes the first of `names` that is free. */
export function createOutputFile(directory: string, names: Iterable<string>): OutputFile {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const name of names) {
    const path = join(directory, name);
    try {
      const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL;
      return { path, descriptor: openSync(path, flags, 0o600) };
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error;
    }
  }
  throw new Error(`no free file name in ${directory}`);
}

const SIZE_LIMIT = 256_000_000;
const SIZE_POLL_MS = 200;
export const TOO_MUCH_OUTPUT: string = `Stopped: the command printed over ${describeSize(SIZE_LIMIT)}.`;

/** Calls `exceeded` once the file has outgrown what a command may print. Returns how to stop looking. */
export function watchOutputSize({ descriptor }: OutputFile, exceeded: () => void): () => void {
  const poll = setInterval(() => {
    if (fstatSync(descriptor).size <= SIZE_LIMIT) return;
    clearInterval(poll);
    exceeded();
  }, SIZE_POLL_MS).unref();
  return () => clearInterval(poll);
}

/** Of output that is told as it comes: a person reads no more while it runs. */
const MOST_FOLLOWED = 30_000;

/** Calls `tell` with the whole lines that have come. Returns how to stop that. */
export function followOutput({ descriptor }: OutputFile, tell: (text: string) => void): () => void {
  let from = 0;
  const look = setInterval(() => {
    const size = Math.min(fstatSync(descriptor).size, MOST_FOLLOWED) - from;
    const part = size > 0 ? readPart(descriptor, from, size) : Buffer.alloc(0);
    const whole = part.subarray(0, part.lastIndexOf('\n') + 1);
    from += whole.length;
    if (whole.length > 0) tell(cleanText(whole.toString()));
    if (from + size >= MOST_FOLLOWED) clearInterval(look);
  }, SIZE_POLL_MS).unref();
  return () => clearInterval(look);
}

export interface ShownOutput {
  text: string;
  /** True when only beginning and end are in `text`. */
  cut: boolean;
}

const SHOWN_LENGTH = 30_000;
const END_BYTES = 64_000;

/** What a result shows of the output after `from`: all of it, or its two ends with `gap` between them. */
export function readShownOutput(
  { descriptor }: OutputFile,
  gap: (bytes: number) => string,
  from = 0,
): ShownOutput {
  const end = fstatSync(descriptor).size;
  const size = Math.max(0, end - from);
  if (size <= END_BYTES * 2) {
    const text = cleanText(readPart(descriptor, from, size).toString());
    if (text.length <= SHOWN_LENGTH) return { text: text.trimEnd(), cut: false };
    return { text: joinEnds(text, text, gap(size)), cut: true };
  }
  // A character cut by the edge of a part decodes to replacement characters, which are dropped there.
  const head = readPart(descriptor, from, END_BYTES)
    .toString()
    .replace(/\ufffd+$/, '');
  const tail = readPart(descriptor, end - END_BYTES, END_BYTES)
    .toString()
    .replace(/^\ufffd+/, '');
  return { text: joinEnds(cleanText(head), cleanText(tail), gap(size)), cut: true };
}

function joinEnds(head: string, tail: string, gap: string): string {
  return `${headOf(head, SHOWN_LENGTH / 2)}\n${gap}\n${tailOf(tail, SHOWN_LENGTH / 2).trimEnd()}`;
}

export function readPart(descriptor: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(descriptor, buffer, 0, length, position));
}

/** By runs: a file with a hole has millions of NULs in a row. */
function cleanText(text: string): string {
  return stripAnsi(text).replace(/\0+/g, '');
}

export async function discardOutputFile({ path, descriptor }: OutputFile): Promise<void> {
  closeSync(descriptor);
  await rm(path, { force: true });
}

/** Closes the file and cleans it in place. One that cannot be cleaned is removed: false. */
export async function keepOutputFile(
  { path, descriptor }: OutputFile,
  redact: (text: string) => string,
): Promise<boolean> {
  closeSync(descriptor);
  const cleaned = `${path}.tmp`;
  try {
    await writeCleaned(path, cleaned, redact);
    await rename(cleaned, path);
    return true;
  } catch {
    await rm(cleaned, { force: true });
    await rm(path, { force: true });
    return false;
  }
}

async function writeCleaned(source: string, path: string, redact: (text: string) => string): Promise<void> {
  const target = await open(path, 'wx', 0o600);
  try {
    for await (const piece of wholePieces(source)) await target.writeFile(redact(cleanText(piece)));
  } finally {
    await target.close();
  }
}

const PIECE_BYTES = 1 << 20;
export const LONGEST_SECRET = 16_384;

/** The text in pieces that split no line, and no private key, unless one is longer than a piece. */
async function* wholePieces(path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let held = '';
  for await (const chunk of createReadStream(path, { highWaterMark: PIECE_BYTES })) {
    held += decoder.decode(chunk, { stream: true });
    const cut = held.length > PIECE_BYTES * 2 ? held.length : safeCut(held);
    yield held.slice(0, cut);
    held = held.slice(cut);
  }
  yield held + decoder.decode();
}

/** Up to where a text is whole: the end of its last line, or the beginning of a private key near its end. */
export function safeCut(text: string): number {
  const lineEnd = text.lastIndexOf('\n') + 1;
  const lookedAt = Math.max(0, text.length - LONGEST_SECRET);
  const key = text.slice(lookedAt).lastIndexOf('-----BEGIN ');
  return key === -1 ? lineEnd : Math.min(lineEnd, lookedAt + key);
}
