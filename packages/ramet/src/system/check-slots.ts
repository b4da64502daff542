/**
 * Places for heavy commands (builds, test suites, checks of merges), shared by all processes of Ramet that have the same
 * `$RAMET_HOME`: two operators and a merge do not run three test suites on two cores. A place is a lock that the kernel keeps on
 * a file (SQLite takes it for us), so it is free again when its holder ends, however that ends.
 *
 * Invariants
 * 1. Who waits is in a row of turns and moves up: nobody overtakes another there. Only those for whom the row is too short
 *    come in by chance.
 * 2. Waiting does not block the event loop, and leaves nothing when it is aborted or killed.
 * 3. The files stay, empty; removing one that is held would make two locks of one.
 * 4. What has a place never waits for another one. A command is told its place by a variable, and what it starts takes turns in
 *    that: one command at a time. A variable that names a place which nobody holds counts for nothing.
 * 5. Only this file opens what is in the folder, and only by SQLite: closing any other descriptor of a lock's file ends the
 *    locks that this process has on it. So nothing else may be kept there.
 */
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemCode } from '../schema/errors.ts';
import { SLOT_VARIABLE } from './child-environment.ts';
import { makePrivateDirectory, PRIVATE_FILE } from './home.ts';
import { isBusy } from './sqlite/sqlite-failure.ts';

export interface CheckSlots {
  directory: string;
  /** How many commands run at once. Processes that say different numbers share the first ones. */
  count: number;
  /** The place that this process runs in itself, as the variable says. */
  within?: string | undefined;
}

export interface SlotWait {
  signal?: AbortSignal | undefined;
  /** Called once, if there is no place now, with the number of commands at work. */
  onWait?: ((running: number) => void) | undefined;
}

export interface HeldSlot extends Disposable {
  /** For the command, and what it starts: that it has a place, and which. */
  readonly environment: Readonly<Record<string, string>>;
  /** For `CheckSlots.within`. */
  readonly name: string;
}

/** `check-2`, and `check-2/check-1` for one that was started in that. */
const SLOT_NAME = /^check-\d{1,4}(?:\/check-1){0,20}$/;

/** For those who wait. */
export function busyText(running: number): string {
  return `${running} heavy ${running === 1 ? 'command runs' : 'commands run'} on this machine`;
}

const SHORTEST_WAIT_MS = 1;
const LONGEST_WAIT_MS = 50;
/** How many wait in order. The first turn is the one that takes the next place. */
const TURNS = ['turn-8', 'turn-7', 'turn-6', 'turn-5', 'turn-4', 'turn-3', 'turn-2', 'turn'];

/** Waits for a place. Disposing it, or the end of this process, frees it. */
export async function takeSlot(slots: CheckSlots, { signal, onWait }: SlotWait = {}): Promise<HeldSlot> {
  const { directory, count, prefix } = placesFor(slots);
  makePrivateDirectory(directory);
  let isTold = false;
  const first = async (names: readonly string[]): Promise<NamedLock> => {
    for (let wait = SHORTEST_WAIT_MS; ; wait = Math.min(LONGEST_WAIT_MS, wait * 2)) {
      signal?.throwIfAborted();
      const lock = lockOneOf(directory, names);
      if (lock !== null) return lock;
      if (!isTold) onWait?.(count);
      isTold = true;
      // Uneven, so that those who wait do not meet again and again.
      await sleep(wait * (0.5 + Math.random()), undefined, { signal });
    }
  };
  let turn: NamedLock | null = null;
  try {
    for (const name of TURNS) {
      const next = await first([name]);
      turn?.close();
      turn = next;
    }
    return heldSlot(await first(Array.from({ length: count }, (_, index) => `check-${index + 1}`)), prefix);
  } finally {
    turn?.close();
  }
}

function heldSlot({ name, close }: NamedLock, prefix: string): HeldSlot {
  const whole = `${prefix}${name}`;
  return { name: whole, environment: { [SLOT_VARIABLE]: whole }, [Symbol.dispose]: close };
}

/** Within a place what is started there shares one. */
function placesFor({
  directory,
  count,
  within,
}: CheckSlots): Omit<CheckSlots, 'within'> & { prefix: string } {
  if (within === undefined || !isTaken(directory, within))
    return { directory, count: Math.max(1, count), prefix: '' };
  return { directory: folderWithin(directory, within), count: 1, prefix: `${within}/` };
}

function isTaken(directory: string, name: string): boolean {
  if (!SLOT_NAME.test(name)) return false;
  const parts = name.split('/');
  const own = parts.pop() ?? '';
  const folder = parts.length === 0 ? directory : folderWithin(directory, parts.join('/'));
  if (!existsSync(fileOf(folder, own))) return false;
  const lock = tryLock(fileOf(folder, own));
  lock?.close();
  return lock === null;
}

function folderWithin(directory: string, name: string): string {
  return join(directory, ...name.split('/').map((part) => `in-${part}`));
}

interface NamedLock {
  readonly name: string;
  readonly close: () => void;
}

function lockOneOf(directory: string, names: readonly string[]): NamedLock | null {
  for (const name of names) {
    const lock = tryLock(fileOf(directory, name));
    if (lock !== null) return { name, close: () => lock.isOpen && lock.close() };
  }
  return null;
}

function fileOf(directory: string, name: string): string {
  return join(directory, `${name}.lock`);
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
