/**
 * Gives a session another title, or its first one. The title is in the session's own file; the index repeats it. No lock is needed, also
 * beside its writer: one row is replaced, and the writer never writes it again.
 */
import type { DatabaseSync } from 'node:sqlite';
import { UserMistake } from '../schema/errors.ts';
import type { SessionId } from '../schema/ids.ts';
import { schemaVersion } from '../system/sqlite/database.ts';
import { writeFailure } from '../system/sqlite/sqlite-failure.ts';
import { openSessionFile, openSessionFileReadOnly, sessionPath, writeMeta } from './session-file.ts';
import { retitleSession } from './session-index.ts';

/** The first version with facts about a session beside its events. */
const WITH_META = 2;

export function renameSession(project: string, session: SessionId, title: string): void {
  change(project, session, (db) => writeMeta(db, 'title', title));
  retitleSession(project, session, title);
}

/** A title that was given before, by whomever, stays. */
export function nameSession(project: string, session: SessionId, title: string): void {
  let isNew = false;
  change(project, session, (db) => {
    isNew = addTitle(db, title);
  });
  if (isNew) retitleSession(project, session, title);
}

function change(project: string, session: SessionId, write: (db: DatabaseSync) => void): void {
  const file = sessionPath(project, session);
  // For reading first: a file of a newer version must not be written to.
  using read = openSessionFileReadOnly(file);
  if (schemaVersion(read) < WITH_META)
    throw new UserMistake(
      'session_old',
      `session ${session} was recorded by an earlier version: resume it once, then rename it`,
    );
  try {
    using db = openSessionFile(file);
    write(db);
  } catch (error) {
    throw error instanceof UserMistake ? error : writeFailure(file, error);
  }
}

/** False if it has one, which stays. */
function addTitle(db: DatabaseSync, title: string): boolean {
  const add = db.prepare("INSERT OR IGNORE INTO meta (key, value) VALUES ('title', ?)");
  return add.run(title).changes > 0;
}
