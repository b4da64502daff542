/**
 * What a change is about to write, on disk before the first of its files is. A process that is killed between its first file and
 * the record of the change leaves this behind, and the next user of the store finishes the change: all of its files
 * and its record. So `ramet memory undo` takes back what was written, and nothing else.
 *
 * Invariant: it is written and removed by a process that has the write lock of the history, except after the change is on record.
 */
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from '../../schema/zod.ts';
import { PRIVATE_FILE } from '../../system/home.ts';
import type { MemoryChange } from './memory-history.ts';

const NAME = /^\.ramet-change-(\d{1,15})\.json$/;
const TEXT = z.nullable(z.string());

const INTENT = z.object({
  ...{ id: z.int(), at: z.int(), kind: z.string() },
  ...{ session: TEXT, agent: TEXT, turn: z.nullable(z.int()), undoes: z.nullable(z.int()) },
  files: z.array(z.object({ path: z.string(), before: TEXT, after: TEXT })),
});

function intentFile(root: string, id: number): string {
  return join(root, `.ramet-change-${id}.json`);
}

export function writeIntent(root: string, change: MemoryChange): void {
  const descriptor = openSync(intentFile(root, change.id), 'w', PRIVATE_FILE);
  try {
    writeFileSync(descriptor, JSON.stringify(change));
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export function removeIntent(root: string, id: number): void {
  rmSync(intentFile(root, id), { force: true });
}

/** By the number that the change would have had; the oldest first. */
export function intentsIn(root: string): number[] {
  let names: string[];
  try {
    names = readdirSync(root);
  } catch {
    return []; // there is no memory yet
  }
  const ids = names.flatMap((name) => NAME.exec(name)?.[1] ?? []);
  return ids.map(Number).sort((a, b) => a - b);
}

/** Null for one that was not written to its end: then none of its files was. */
export function readIntent(root: string, id: number): MemoryChange | null {
  try {
    const intent = INTENT.safeParse(JSON.parse(readFileSync(intentFile(root, id), 'utf8')));
    // The cast: only our own process writes kinds, and one that is not known is read as `hand` from the history.
    return intent.success ? (intent.data as MemoryChange) : null;
  } catch {
    return null;
  }
}
