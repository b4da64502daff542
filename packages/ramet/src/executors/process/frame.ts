/** Messages as one frame: bytes for the pipe, or the name of a private file for what would clog it. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';

const LARGEST_IN_PIPE = 1 << 20;
/** A context window full of images stays far below. */
const LARGEST_IN_FILE = 1 << 29;
const FILE_NAME = /^frame-[\w-]+$/;

export function packFrame(messages: readonly unknown[], spool: string): Uint8Array | string {
  const bytes = serialize(messages);
  if (bytes.length <= LARGEST_IN_PIPE) return bytes;
  const name = `frame-${randomUUID()}`;
  mkdirSync(spool, { recursive: true, mode: 0o700 });
  writeFileSync(join(spool, name), bytes, { mode: 0o600, flag: 'wx' });
  return name;
}

/** Throws for what nobody of ours has packed. A file is removed once it is read. */
export function unpackFrame(frame: unknown, spool: string): unknown {
  if (frame instanceof Uint8Array) return deserialize(frame);
  if (typeof frame !== 'string' || !FILE_NAME.test(frame)) throw new Error('it sent no frame');
  const path = join(spool, frame);
  try {
    const { size } = statSync(path);
    if (size > LARGEST_IN_FILE) throw new Error(`it sent ${size} bytes at once`);
    return deserialize(readFileSync(path));
  } finally {
    rmSync(path, { force: true });
  }
}
