/**
 * Places for heavy commands, shared by all processes of Ramet that have the same `$RAMET_HOME`: two operators and a merge
 * do not run three test suites on two cores. A place is a lock that the kernel keeps on a file (SQLite takes it for us), so
 * it is free again when its holder ends, however that ends.
 *
 * Invariants
 * 1. A caller that waits holds `turn`, or waits for that: a later one does not overtake the holder.
 * 2. Waiting does not block the event loop.
 * 3. The files stay, empty; removing one that is held would make two locks of one.
 * 4. A command that has a place starts others without one: it would wait for itself.
 */
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemCode } from '../schema/errors.ts';
import { makePrivateDirectory, PRIVATE_FILE } from './home.ts';
import { isBusy } from './sqlite/sqlite-failure.ts';

export interface CheckSlots {
  directory: string;
  /** How many commands run at once. Processes that say different numbers share the first ones. */
  count: number;
}

export interface SlotWait {
  signal?: AbortSignal | undefined;
  /** Called once, if there is no place now, with the number of commands at work. */
  onWait?: ((running: number) => void) | undefined;
}

/** Tells a command, and what it starts, that it has a place. */
export const SLOT_VARIABLE = 'RAMET_CHECK_SLOT';

const SHORTEST_WAIT_MS = 1;
const LONGEST_WAIT_MS = 50;

/** Waits for a place. Disposing it, or the end of this process, frees it. */
export async function takeSlot(
  { directory, count }: CheckSlots,
  { signal, onWait }: SlotWait = {},
): Promise<Disposable> {
  makePrivateDirectory(directory);
  let isTold = false;
  const first = async (names: readonly string[]): Promise<Disposable> => {
    for (let wait = SHORTEST_WAIT_MS; ; wait = Math.min(LONGEST_WAIT_MS, wait * 2)) {
      signal?.throwIfAborted();
      const lock = lockOneOf(names.map((name) => join(directory, `${name}.lock`)));
      if (lock !== null) return lock;
      if (!isTold) onWait?.(count);
      isTold = true;
      // Uneven, so that those who wait do not meet again and again.
      await sleep(wait * (0.5 + Math.random()), undefined, { signal });
    }
  };
  using _turn = await first(['turn']);
  return await first(Array.from({ length: Math.max(1, count) }, (_, index) => `check-${index + 1}`));
}

function lockOneOf(files: readonly string[]): Disposable | null {
  for (const file of files) {
    const lock = tryLock(file);
    if (lock !== null) return lock;
  }
  return null;
}

function tryLock(file: string): DatabaseSync | null {
  makeFile(file);
  const db = new DatabaseSync(file, { timeout: 0 });
  try {
    // Nothing is ever written to it, and a journal beside it would need room.
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return db;
  } catch (error) {
    db.close();
    if (isBusy(error)) return null;
    throw error;
  }
}

/** Only one that is new is opened here: closing a file ends the locks that this process has on it. */
function makeFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', PRIVATE_FILE));
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}
