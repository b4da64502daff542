/**
 * Opens a SQLite file that is used with a WAL to read it, and leaves no file beside it that was not there. SQLite keeps
 * two files beside one that is open; a connection that may write removes them when it is the last, one that may not
 * leaves them. So a reader opens a file with an empty WAL for writing, and does not write (`query_only`).
 */
import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { openInMemory } from './memory-copy.ts';
import { diskTroubleAt } from './sqlite-failure.ts';

interface Reading {
  timeout: number;
  /** What is written later must be seen. */
  live?: boolean;
  troubleAt?: typeof diskTroubleAt;
}

export function openToRead(file: string, reading: Reading): DatabaseSync {
  const { timeout, live = false, troubleAt = diskTroubleAt } = reading;
  if ((sizeOf(`${file}-wal`) ?? 0) === 0) {
    // SQLite would begin its two files, find no room for them and leave them behind.
    const trouble = live ? null : troubleAt(file);
    return trouble === 'full' || trouble === 'read-only'
      ? openInMemory(file)
      : openLeavingNothing(file, timeout);
  }
  // With a WAL and without its index nobody has it open, and SQLite would leave an index behind.
  if (!live && sizeOf(`${file}-shm`) === null) return openInMemory(file);
  return new DatabaseSync(file, { readOnly: true, timeout });
}

function openLeavingNothing(file: string, timeout: number): DatabaseSync {
  const db = new DatabaseSync(existingFile(file), { timeout });
  try {
    db.exec('PRAGMA query_only = 1');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Null for a missing file. */
function sizeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null;
}

/** For SQLite, which would otherwise make a file that is not there, readable to everybody. */
export function existingFile(path: string): URL {
  const url = pathToFileURL(path);
  url.searchParams.set('mode', 'rw');
  return url;
}
