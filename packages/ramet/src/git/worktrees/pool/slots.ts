/**
 * Small numbers for ports and databases, one to each worktree of the machine. A slot is a file named after the number
 * in `$RAMET_HOME/slots`, made exclusively, whose text is the worktree it belongs to. It lasts as long as the worktree,
 * whichever agent works in it.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../../schema/errors.ts';
import { makePrivateDirectory, PRIVATE_FILE } from '../../../system/home.ts';
import { replaceWhole } from '../../../system/replace-whole.ts';

const FIRST_PORT = 10_000;
const PORTS_EACH = 20;
const LAST_PORT = 32_000;

/** The lowest number that is free; `wanted` when that is. */
export function takeSlot(home: string, holder: string, wanted?: number): number {
  const directory = slotDirectory(home);
  makePrivateDirectory(directory);
  if (wanted !== undefined && tryTake(directory, wanted, holder)) return wanted;
  const taken = new Set(readdirSync(directory));
  for (let slot = 1; ; slot++) {
    if (!taken.has(String(slot)) && tryTake(directory, slot, holder)) return slot;
  }
}

/** Frees a number, if it is this holder's. */
export function freeSlot(home: string, slot: number, holder: string): void {
  const file = join(slotDirectory(home), String(slot));
  if (holderOf(file) === holder) rmSync(file, { force: true });
}

/** Gives a number to another holder. */
export function passSlot(home: string, slot: number, holder: string): void {
  replaceWhole(join(slotDirectory(home), String(slot)), holder, PRIVATE_FILE);
}

/** The numbers that holders who are gone have kept. `isHolder` is asked for those of this repository only. */
export function freeLostSlots(home: string, project: string, isHolder: (id: string) => boolean): void {
  // Older versions of Ramet keep locks here. Closing a file ends the locks that this process has on it.
  for (const name of namesIn(slotDirectory(home)).filter(isNumber)) {
    const file = join(slotDirectory(home), name);
    const [place, id] = holderOf(file)?.split('\n') ?? [];
    if (place === project && id !== undefined && !isHolder(id)) rmSync(file, { force: true });
  }
}

/** The first of this slot's ports; null where ports have run out. */
export function portBase(slot: number): number | null {
  const port = FIRST_PORT + slot * PORTS_EACH;
  return port + PORTS_EACH > LAST_PORT ? null : port;
}

function slotDirectory(home: string): string {
  return join(home, 'slots');
}

function tryTake(directory: string, slot: number, holder: string): boolean {
  try {
    writeFileSync(join(directory, String(slot)), holder, { flag: 'wx', mode: PRIVATE_FILE });
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}

function isNumber(name: string): boolean {
  return /^[1-9]\d*$/.test(name);
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function holderOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
