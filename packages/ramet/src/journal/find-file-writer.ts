import { JournalError } from '../schema/errors.ts';
import type { SessionId } from '../schema/ids.ts';
import { listSessions } from './session-list.ts';
import { openReader } from './sessions.ts';

/** The writer of an unchanged file is most likely among the latest. */
const LOOKED_AT = 20;

export interface WrittenFile {
  path: string;
  version: string;
}

/** The latest session but `except` that left a file in this version; null when none is known to have. */
export function findFileWriter(project: string, file: WrittenFile, except: SessionId): SessionId | null {
  const others = listSessions(project).filter(({ session }) => session !== except);
  return (
    others.slice(0, LOOKED_AT).find(({ session }) => hasWritten(project, session, file))?.session ?? null
  );
}

/** A session that cannot be read is not known to have written anything. */
function hasWritten(project: string, session: SessionId, { path, version }: WrittenFile): boolean {
  try {
    const reader = openReader({ project, session });
    try {
      for (const { event } of reader.events()) {
        const written =
          event.type === 'file.changed'
            ? [event]
            : event.type === 'message.appended'
              ? (event.adopted?.files ?? [])
              : [];
        if (written.some((file) => file.path === path && file.after === version)) return true;
      }
      return false;
    } finally {
      reader.close();
    }
  } catch (error) {
    if (error instanceof JournalError) return false;
    throw error;
  }
}
