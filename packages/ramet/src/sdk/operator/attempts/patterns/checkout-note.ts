/**
 * Who works in the shared checkout of a run, and with which files: noted where no agent can write, so that another process can
 * continue after a crash.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ManagedWorktree, WorktreePlace } from '../../../../git/shapes.ts';
import { systemCode } from '../../../../schema/errors.ts';
import { replaceWhole } from '../../../../system/replace-whole.ts';

export interface CheckoutNote {
  /** The checkout that it is about: one that was made again has none. */
  readonly admin: string;
  /** The commit that its files began with; `next`: they are being brought there. */
  at: string;
  next: string | null;
  /** The files of tasks at work; null for any. */
  live: Record<string, readonly string[] | null>;
  /** Paths that tasks which have ended have changed. */
  ended: Record<string, readonly string[]>;
}

type NotePlace = Pick<WorktreePlace, 'project'>;

export function newNote({ admin, base }: ManagedWorktree): CheckoutNote {
  return { admin, at: base, next: null, live: {}, ended: {} };
}

export function readNote(place: NotePlace, run: string, { admin }: ManagedWorktree): CheckoutNote | null {
  try {
    // Only `writeNote` makes it.
    const note = JSON.parse(readFileSync(fileOf(place, run), 'utf8')) as CheckoutNote;
    return note.admin === admin ? note : null;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}

export function writeNote(place: NotePlace, run: string, note: CheckoutNote): void {
  replaceWhole(fileOf(place, run), JSON.stringify(note));
}

export function forgetNote(place: NotePlace, run: string): void {
  rmSync(fileOf(place, run), { force: true });
}

function fileOf({ project }: NotePlace, run: string): string {
  return join(project, `operate-${run}.json`);
}
