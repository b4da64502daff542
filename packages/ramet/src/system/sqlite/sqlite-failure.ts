/** Turns what SQLite says into one line that names the file, the reason and what to do. */
import { existsSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { describeError, JournalError, systemCode } from '../../schema/errors.ts';
import { DISK_TROUBLES, diskTroubleAt } from '../disk-trouble.ts';

const SQLITE_ERROR = 1;
const SQLITE_BUSY = 5;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;

/** The primary result code; null for anything that is not SQLite's. Extended codes keep it in the low byte. */
function sqliteCode(error: unknown): number | null {
  if (systemCode(error) !== 'ERR_SQLITE_ERROR') return null;
  const code = error instanceof Error && 'errcode' in error ? error.errcode : null;
  return typeof code === 'number' ? code & 0xff : null;
}

export function isBusy(error: unknown): boolean {
  return sqliteCode(error) === SQLITE_BUSY;
}

/** SQLite says "database or disk is full", or the journal has said so. */
export function isDatabaseFull(error: unknown): boolean {
  return sqliteCode(error) === SQLITE_FULL || systemCode(error) === 'journal_disk_full';
}

/** SQLite has no room, or no right, to keep its files beside this one. */
export function needsRoomBeside(error: unknown): boolean {
  const code = sqliteCode(error instanceof JournalError ? error.cause : error);
  return code !== null && [SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN].includes(code);
}

/** Why a file beside others, such as an index, could not be written: SQLite says "disk I/O error". */
export function writeTrouble(file: string, error: unknown): string {
  return diskReason(file, error)?.join('; ') ?? describeError(error);
}

/** Reason and remedy; null where it is not the disk. */
export function diskReason(file: string, error: unknown): readonly [reason: string, remedy: string] | null {
  if (isDatabaseFull(error) || systemCode(error) === 'ENOSPC') return DISK_TROUBLES.full;
  const trouble = diskTroubleAt(file);
  if (trouble !== null) return DISK_TROUBLES[trouble];
  return needsRoomBeside(error)
    ? ['the system refused the write (disk, quota or file size limit)', 'check space and limits']
    : null;
}

export function isDamaged(error: unknown): boolean {
  if (error instanceof JournalError && error.code === DAMAGED) return true;
  const code = sqliteCode(error instanceof JournalError ? error.cause : error);
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB;
}

export function writeFailure(file: string, error: unknown): JournalError {
  if (error instanceof JournalError) return error;
  const [code, reason, remedy] = explainWrite(file, error);
  return new JournalError(code, 'terminal', `cannot write the journal ${file}: ${reason}; ${remedy}`, {
    cause: error,
  });
}

const DAMAGED = 'journal_damaged';

type Explanation = [code: string, reason: string, remedy: string];

function explainWrite(file: string, error: unknown): Explanation {
  const trouble = diskTroubleAt(file);
  if (lacksTables(error)) return damaged(file);
  const code = systemCode(error) === 'ENOSPC' ? SQLITE_FULL : sqliteCode(error);
  if (code === SQLITE_FULL || (trouble === 'full' && (code === SQLITE_IOERR || code === SQLITE_CANTOPEN)))
    return ['journal_disk_full', 'the disk is full', 'free some space, then resume the session'];
  if (trouble === 'read-only' && (code === SQLITE_READONLY || code === SQLITE_CANTOPEN))
    return [
      'journal_not_writable',
      'the file system is read-only',
      'mount it writable, then resume the session',
    ];
  switch (code) {
    case SQLITE_IOERR:
      return [
        'journal_write_failed',
        'the system refused the write (disk, quota or file size limit)',
        'check space and limits, then resume the session',
      ];
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      return [
        'journal_not_writable',
        'no permission',
        'make its directory writable, then resume the session',
      ];
    case SQLITE_BUSY:
      return [
        'journal_busy',
        'another process holds its lock',
        'close that process, then resume the session',
      ];
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return damaged(file);
    default:
      return ['journal_write_failed', describeError(error), 'the session can be resumed from what it holds'];
  }
}

/** A damaged first page may name tables and columns otherwise. */
function lacksTables(error: unknown): boolean {
  return sqliteCode(error) === SQLITE_ERROR && /^no such (table|column)/.test(describeError(error));
}

/** Its file is empty, and something beside it shows that it was not. */
export function emptied(file: string): JournalError {
  return damagedBecause(file, 'it was emptied after events were written to it');
}

/** The number that says which tables a file has does not fit the tables that are there. */
export function damagedVersion(file: string, version: number): JournalError {
  return damagedBecause(file, `it is damaged: its schema version, ${version}, does not fit its tables`);
}

function damagedBecause(file: string, reason: string): JournalError {
  const [code, , remedy] = damaged(file);
  return new JournalError(code, 'terminal', `cannot read the journal ${file}: ${reason}; ${remedy}`);
}

function damaged(file: string): Explanation {
  const remedy = `save what can be read with: ramet doctor --repair ${sessionOf(file)}`;
  return [DAMAGED, 'it is damaged or not a journal', remedy];
}

/** By `ramet gc`, most likely, while it was read. */
function removedWhileReading(file: string): JournalError {
  const message = `session ${sessionOf(file)} was removed meanwhile: ${file} is gone; ramet ps lists those that are there`;
  return new JournalError('session_removed', 'terminal', message);
}

export function removedBeforeResuming(file: string): JournalError {
  const message = `the session was removed meanwhile: ${file} is gone; start a new one`;
  return new JournalError('session_removed', 'terminal', message);
}

export function removedWhileWriting(file: string): JournalError {
  return new JournalError(
    'journal_removed',
    'terminal',
    `cannot write the journal ${file}: it was removed or replaced while in use; start a new session`,
  );
}

/** What was only in the WAL is lost; the rest is there. */
export function walRemovedWhileWriting(wal: string): JournalError {
  return new JournalError(
    'journal_wal_removed',
    'terminal',
    `cannot write the journal ${wal}: it was removed or replaced while in use; the session can be resumed from what its file holds`,
  );
}

export function readFailure(file: string, error: unknown): JournalError {
  if (error instanceof JournalError) return error;
  if (!existsSync(file)) return removedWhileReading(file);
  const [code, reason, remedy] = explainRead(file, error);
  return new JournalError(code, 'terminal', `cannot read the journal ${file}: ${reason}; ${remedy}`, {
    cause: error,
  });
}

function explainRead(file: string, error: unknown): Explanation {
  if (lacksTables(error)) return damaged(file);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
    return ['journal_not_readable', 'it is a directory', 'move it away, or put the file back'];
  switch (sqliteCode(error)) {
    case SQLITE_READONLY:
      return [
        'journal_directory_read_only',
        'its directory is read-only and SQLite must keep two files beside it',
        'copy the session to a directory you can write to, or make this one writable',
      ];
    case SQLITE_IOERR:
      return ['journal_not_readable', 'the system cannot read it (disk)', 'check the disk, then try again'];
    case SQLITE_CANTOPEN:
      return ['journal_not_readable', 'it cannot be opened', 'check that it exists and that you may read it'];
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return damaged(file);
    default:
      return ['journal_not_readable', describeError(error), 'check the file with sqlite3'];
  }
}

/** The session that a file is of, for a command to type. */
export function sessionOf(file: string): string {
  return basename(file, '.sqlite');
}
