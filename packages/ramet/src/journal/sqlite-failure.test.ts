import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { JournalError } from '../schema/errors.ts';
import { readFailure, writeFailure } from './sqlite-failure.ts';

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
    const unknown = failureOf((db) => db.exec('SELECT * FROM absent'));
    expect(writeFailure('/j.sqlite', unknown).message).toContain('no such table: absent; the session can be');
    expect(readFailure('/j.sqlite', unknown).message).toContain('no such table: absent; check the file');
    expect(writeFailure('/j.sqlite', 'odd').message).toContain('odd');
  });

  test('says that a file cannot be opened', () => {
    const absent = failureOf(() => new DatabaseSync('/nowhere/j.sqlite', { readOnly: true }));
    expect(readFailure('/nowhere/j.sqlite', absent).message).toBe(
      'cannot read the journal /nowhere/j.sqlite: it cannot be opened; check that it exists and that you may read it',
    );
    expect(writeFailure('/nowhere/j.sqlite', absent)).toMatchObject({ code: 'journal_not_writable' });
  });

  test('leaves a journal error as it is', () => {
    const error = new JournalError('x', 'terminal', 'said');
    expect(writeFailure('/j.sqlite', error)).toBe(error);
    expect(readFailure('/j.sqlite', error)).toBe(error);
  });
});
