import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { JournalError } from '../../schema/errors.ts';
import { isDamaged, readFailure, writeFailure } from './sqlite-failure.ts';

/** A file that is there. */
const HERE = import.meta.filename;

function failureOf(act: (db: DatabaseSync) => void): unknown {
  using db = new DatabaseSync(':memory:');
  try {
    act(db);
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

describe('a failure of SQLite in one line', () => {
  test('says that the disk is full and what to do', () => {
    const full = failureOf((db) => {
      db.exec('CREATE TABLE t (x); PRAGMA max_page_count = 2');
      db.prepare('INSERT INTO t VALUES (?)').run('x'.repeat(100_000));
    });
    const failure = writeFailure('/j.sqlite', full);
    expect(failure).toMatchObject({ code: 'journal_disk_full', family: 'terminal', cause: full });
    expect(failure.message).toBe(
      'cannot write the journal /j.sqlite: the disk is full; free some space, then resume the session',
    );
  });

  test('gives the reason as it came when it is not a known one', () => {
    const unknown = failureOf((db) => db.exec('nonsense'));
    expect(writeFailure(HERE, unknown).message).toContain('syntax error; the session can be');
    expect(readFailure(HERE, unknown).message).toContain('syntax error; check the file');
    expect(writeFailure(HERE, 'odd').message).toContain('odd');
  });

  test('takes tables and columns that are not there for damage', () => {
    for (const sql of ['SELECT * FROM absent', 'SELECT absent']) {
      const lacking = failureOf((db) => db.prepare(sql));
      const damaged = 'it is damaged or not a journal; save what can be read with: ramet doctor --repair ';
      expect(readFailure(HERE, lacking).message).toContain(damaged);
      expect(writeFailure(HERE, lacking).message).toContain(damaged);
      expect(isDamaged(readFailure(HERE, lacking))).toBe(true);
    }
  });

  test('says that a file cannot be opened, or is a directory', () => {
    const unopened = failureOf(() => new DatabaseSync('/nowhere/j.sqlite', { readOnly: true }));
    expect(readFailure(HERE, unopened).message).toBe(
      `cannot read the journal ${HERE}: it cannot be opened; check that it exists and that you may read it`,
    );
    expect(readFailure(import.meta.dirname, unopened).message).toContain('it is a directory; move it away');
    expect(writeFailure(HERE, unopened)).toMatchObject({ code: 'journal_not_writable' });
  });

  test('says for any failure on a missing file that it was removed', () => {
    const failed = Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 10 });
    expect(readFailure('/nowhere/j.sqlite', failed)).toMatchObject({
      code: 'session_removed',
      message:
        'session j was removed meanwhile: /nowhere/j.sqlite is gone; ramet ps lists those that are there',
    });
    expect(readFailure(HERE, failed).message).toContain('the system cannot read it (disk); check the disk');
  });

  test('leaves a journal error as it is', () => {
    const error = new JournalError('x', 'terminal', 'said');
    expect(writeFailure('/j.sqlite', error)).toBe(error);
    expect(readFailure('/j.sqlite', error)).toBe(error);
  });
});
