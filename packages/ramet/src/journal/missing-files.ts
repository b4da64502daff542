/** Sessions whose file is gone while something beside it is left: the WAL, which may hold events, or the witness. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { JournalError, systemCode } from '../schema/errors.ts';
import type { SessionId } from '../schema/ids.ts';
import { unusable } from '../system/home.ts';
import { readWitness } from './integrity.ts';
import { isSessionLocked, sessionOfFile, sessionPath } from './session-file.ts';

export interface MissingFile {
  session: SessionId;
  /** What is left of it: only a WAL can hold events. */
  left: 'WAL' | 'witness';
}

/** Not those that a process writes or removes now. */
export function missingFiles(project: string): MissingFile[] {
  const sessions = new Set(namesIn(project).flatMap((name) => sessionOfFile(besideOf(name)) ?? []));
  return Array.from(sessions)
    .toSorted()
    .flatMap((session) => {
      const file = sessionPath(project, session);
      const left = leftOf(file);
      return left === null || isSessionLocked(file) === true ? [] : [{ session, left }];
    });
}

/** Null where the file is there, or nothing of it. */
export function leftOf(file: string): MissingFile['left'] | null {
  if (existsSync(file)) return null;
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return 'WAL';
  return (readWitness(file)?.seq ?? 0) > 0 ? 'witness' : null;
}

export function missingText({ session, left }: MissingFile): string {
  return `session ${session}: its file is missing, its ${left} is left`;
}

/** What to do about it. */
export function wayToSave(file: string, missing: MissingFile): string {
  return missing.left === 'WAL'
    ? `${missingText(missing)}; save what can be read with: ramet doctor --repair ${missing.session}`
    : nothingSaved(file, missing).message;
}

/** Neither its WAL nor anything else can tell what it held. */
export function nothingSaved(file: string, { session, left }: MissingFile): JournalError {
  const reason = left === 'WAL' ? 'no event can be read in its WAL' : 'its WAL is missing too';
  const message = `nothing of session ${session} can be saved: ${file} is missing, and ${reason}; restore it from a backup (ramet gc lists what is left)`;
  return new JournalError('journal_lost', 'terminal', message);
}

/** The name of the session's file that this one belongs to. */
function besideOf(name: string): string {
  return name.replace(/\.sqlite-wal$|\.witness$/, '.sqlite');
}

function namesIn(project: string): string[] {
  try {
    return readdirSync(project);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw unusable(project, error);
  }
}
