/**
 * Standard input for a program that may open it by its name (`/dev/stdin`): a file, since what Node makes is a socket.
 *
 * Invariants
 * 1. The file has no name before anything is written to it: whatever ends this process, nothing stays on disk.
 * 2. Only this user may open it. A program of the same user that finds it among what another process has open can write to it, so
 *    it is compared with what was written when the program has ended.
 * 3. Where no such file can be made or filled, the result is null, and the caller has another way.
 */
import { randomUUID } from 'node:crypto';
import { type BigIntStats, closeSync, fstatSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PRIVATE_FILE } from './home.ts';

export interface OpenedInput extends Disposable {
  /** For `stdio` of a program: it reads from the beginning. */
  readonly descriptor: number;
  /** Nobody has written to it. */
  isAsWritten(): boolean;
}

/** In memory where there is such a folder. */
const PLACES: readonly string[] = ['/dev/shm', tmpdir()];

/** Null where no file can be made, as on a full disk. */
export function openedInput(text: string, places: readonly string[] = PLACES): OpenedInput | null {
  const bytes = Buffer.from(text);
  for (const place of places) {
    const descriptor = namelessFile(place);
    if (descriptor === null) continue;
    try {
      writeAll(descriptor, bytes);
      const written = fstatSync(descriptor, { bigint: true });
      return {
        descriptor,
        isAsWritten: () => isSame(descriptor, written, bytes),
        [Symbol.dispose]: () => closeSync(descriptor),
      };
    } catch {
      closeSync(descriptor);
    }
  }
  return null;
}

function namelessFile(place: string): number | null {
  const path = join(place, `ramet-${randomUUID()}`);
  try {
    const descriptor = openSync(path, 'wx+', PRIVATE_FILE);
    try {
      unlinkSync(path);
      return descriptor;
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  } catch {
    return null;
  }
}

/** The position of the descriptor, which the program shares, stays at the beginning. */
function writeAll(descriptor: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at, bytes.length - at, at);
}

/** A write within one tick of the clock leaves the times as they were: then the content tells. */
function isSame(descriptor: number, written: BigIntStats, bytes: Buffer): boolean {
  const { size, mtimeNs, ctimeNs } = fstatSync(descriptor, { bigint: true });
  if (size !== written.size || mtimeNs !== written.mtimeNs || ctimeNs !== written.ctimeNs) return false;
  const now = Buffer.alloc(bytes.length);
  for (let at = 0; at < now.length; ) {
    const read = readSync(descriptor, now, at, now.length - at, at);
    if (read === 0) return false;
    at += read;
  }
  return now.equals(bytes);
}
