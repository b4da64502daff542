import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import { openInMemory } from './memory-copy.ts';

const root = mkdtempSync(join(tmpdir(), 'ramet-memory-'));
afterAll(() => rmSync(root, { recursive: true }));

/** A file whose first row is in the database and whose others are in the WAL, copied while it is open. */
function fileWithWal(name: string, rows: number): string {
  const file = join(root, name);
  using db = new DatabaseSync(`${file}-open`);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (n, text)');
  const insert = db.prepare('INSERT INTO t VALUES (?, ?)');
  insert.run(1, 'first');
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  for (let row = 2; row <= rows; row++) insert.run(row, 'x'.repeat(500));
  copyFileSync(`${file}-open`, file);
  copyFileSync(`${file}-open-wal`, `${file}-wal`);
  return file;
}

function rowsOf(db: DatabaseSync): number[] {
  try {
    return db
      .prepare('SELECT n FROM t ORDER BY n')
      .all()
      .map(({ n }) => Number(n));
  } finally {
    db.close();
  }
}

describe('LOG-1: a copy in memory', () => {
  test('holds what the file and its WAL hold, and leaves both alone', () => {
    const file = fileWithWal('whole', 60);
    const before = [file, `${file}-wal`].map((path) => readFileSync(path));
    expect(rowsOf(openInMemory(file))).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
    expect([file, `${file}-wal`].map((path) => readFileSync(path))).toEqual(before);
    expect(statSync(`${file}-shm`, { throwIfNoEntry: false })).toBeUndefined();
  });

  test('takes from a WAL that is cut or damaged what SQLite takes', () => {
    const size = statSync(`${fileWithWal('size', 40)}-wal`).size;
    for (let step = 0; step < 12; step++) {
      const file = fileWithWal(`cut-${step}`, 40);
      const at = Math.round((size * (step + 0.5)) / 12);
      if (step % 2 === 0) truncateSync(`${file}-wal`, at);
      else {
        const bytes = readFileSync(`${file}-wal`);
        bytes[at] = (bytes[at] ?? 0) ^ 0x10;
        writeFileSync(`${file}-wal`, bytes);
      }
      const ours = rowsOf(openInMemory(file));
      expect(ours).toEqual(rowsOf(new DatabaseSync(file)));
      expect(ours.length).toBeLessThan(40);
    }
  });

  test('is of the file alone where there is no WAL', () => {
    const file = fileWithWal('alone', 5);
    rmSync(`${file}-wal`);
    expect(rowsOf(openInMemory(file))).toEqual([1]);
  });
});
