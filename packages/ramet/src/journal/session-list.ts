/** Finding sessions: the index says most, the files themselves say the rest. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemCode, UserMistake } from '../schema/errors.ts';
import type { SessionId } from '../schema/ids.ts';
import { movedPaths, unusable } from '../system/home.ts';
import { leaseOf, type WriterLease } from './lease.ts';
import { missingFiles, wayToSave } from './missing-files.ts';
import { openSessionFileReadOnly, sessionOfFile, sessionPath } from './session-file.ts';
import { type IndexedSession, readIndex } from './session-index.ts';
import { describeSession, stateOfWriter } from './sessions.ts';

export interface SessionEntry extends IndexedSession {
  file: string;
  /** A process is writing it now, or may be, on another machine. Neither live nor ended: its writer crashed. */
  live: boolean;
  /** When it was last written: what is being done in one that was opened long ago counts. */
  lastUsed: number;
}

/** The one that was used last first. Empty where there is no such project yet. */
export function listSessions(project: string): SessionEntry[] {
  const files = new Set(sessionFiles(project));
  const indexed = readIndex(project).filter(({ entry }) => files.delete(entry.session));
  const moved = movedPaths(project);
  const missed = Array.from(files, (session) => readEntry(project, session));
  return [...indexed, ...missed.filter((found) => found !== null)]
    .map(({ entry, lease }) => {
      const file = sessionPath(project, entry.session);
      return {
        ...entry,
        cwd: moved(entry.cwd),
        file,
        live: lease !== null && stateOfWriter(file, lease) !== 'gone',
        lastUsed: Math.max(entry.opened, entry.ended ?? lastWrite(file)),
      };
    })
    .sort((a, b) => b.lastUsed - a.lastUsed || (a.session < b.session ? -1 : 1));
}

/** The newest record is in the file or in the log beside it; neither is opened for that. */
function lastWrite(file: string): number {
  const times = [file, `${file}-wal`].map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return Math.round(Math.max(...times));
}

/** The newest of those that `wanted` accepts. */
export function latestSession(
  project: string,
  wanted: (entry: SessionEntry) => boolean = () => true,
): SessionEntry | null {
  return listSessions(project).find(wanted) ?? null;
}

/** The one session whose id is, or begins with, `idOrPrefix`. */
export function findSession(project: string, idOrPrefix: string): SessionEntry {
  const sessions = listSessions(project);
  const matches = sessions.filter(({ session }) => idOrPrefix !== '' && session.startsWith(idOrPrefix));
  const [match] = matches;
  if (match !== undefined && matches.length === 1) return match;
  if (match !== undefined) {
    const candidates = matches.map(({ session }) => session).join(', ');
    throw new UserMistake('session_ambiguous', `"${idOrPrefix}" could be ${candidates}: give more letters`);
  }
  const missing = missingFiles(project).find(
    ({ session }) => idOrPrefix !== '' && session.startsWith(idOrPrefix),
  );
  if (missing !== undefined)
    throw new UserMistake('session_unknown', wayToSave(sessionPath(project, missing.session), missing));
  const elsewhere = sessionElsewhere(project, idOrPrefix);
  if (elsewhere !== null) throw new UserMistake('session_unknown', elsewhere);
  const known = sessions.slice(0, 5).map(({ session }) => session);
  throw new UserMistake(
    'session_unknown',
    `there is no session "${idOrPrefix}" of this directory: ${known.length === 0 ? 'it has none yet' : `the latest are ${known.join(', ')}`}`,
  );
}

/** Shorter beginnings would find another session by chance. */
const TELLING_LETTERS = 4;

/** Whose it is, when another project of this home has it. */
function sessionElsewhere(project: string, idOrPrefix: string): string | null {
  if (idOrPrefix.length < TELLING_LETTERS || !existsSync(dirname(project))) return null;
  for (const name of readdirSync(dirname(project), { withFileTypes: true })) {
    if (!name.isDirectory()) continue;
    const other = join(dirname(project), name.name);
    const session = sessionFiles(other).find((one) => one.startsWith(idOrPrefix));
    const cwd = session === undefined ? undefined : readEntry(other, session)?.entry.cwd;
    if (cwd === undefined || cwd === '') continue;
    return existsSync(cwd)
      ? `session ${session} belongs to ${cwd}: go there first`
      : `session ${session} belongs to ${cwd}, which no longer exists: restore the directory to resume it`;
  }
  return null;
}

function sessionFiles(project: string): SessionId[] {
  try {
    return readdirSync(project).flatMap((name) => sessionOfFile(name) ?? []);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw unusable(project, error);
  }
}

/** Null for a file whose maker ended before filling it. One that cannot be read is listed by its name and age. */
function readEntry(
  project: string,
  session: SessionId,
): { entry: IndexedSession; lease: WriterLease | null } | null {
  const file = sessionPath(project, session);
  try {
    using db = openSessionFileReadOnly(file);
    return { entry: describeSession(db, session), lease: leaseOf(db) };
  } catch (error) {
    if (error instanceof UserMistake) return null;
    const created = statSync(file).birthtimeMs;
    return { entry: { session, created, opened: created, ended: null, cwd: '', title: null }, lease: null };
  }
}
