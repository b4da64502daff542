import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import { Checkpointer } from './writer-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'ramet-checkpointer-'));
afterAll(() => rmSync(directory, { recursive: true }));

function fill(name: string): { db: DatabaseSync; wal: () => number; file: string } {
  const file = join(directory, name);
  const db = new DatabaseSync(file);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x)');
  db.prepare('INSERT INTO t VALUES (?)').run('x'.repeat(100_000));
  return { db, file, wal: () => statSync(`${file}-wal`).size };
}

async function checkpoint(file: string): Promise<string[]> {
  const failures: string[] = [];
  const checkpointer = new Checkpointer(file, (reason) => failures.push(reason));
  checkpointer.request();
  checkpointer.request();
  await checkpointer.stop();
  return failures;
}

describe('the checkpointer', () => {
  test('empties the WAL', async () => {
    const { db, file, wal } = fill('plain');
    expect(wal()).toBeGreaterThan(100_000);
    expect(await checkpoint(file)).toEqual([]);
    expect(wal()).toBe(0);
    db.close();
  });

  test('gives up without a word while a reader needs the WAL, and works once it is gone', async () => {
    const { db, file, wal } = fill('read');
    const reader = new DatabaseSync(file, { readOnly: true });
    reader.exec('BEGIN; SELECT * FROM t');
    expect(await checkpoint(file)).toEqual([]);
    expect(wal()).toBeGreaterThan(100_000);
    reader.close();
    await checkpoint(file);
    expect(wal()).toBe(0);
    db.close();
  });

  test('tells why it failed', async () => {
    expect(await checkpoint(join(directory, 'absent', 'file'))).toEqual(['unable to open database file']);
  });

  test('stops at once when it was never asked', async () => {
    await new Checkpointer(join(directory, 'never'), () => {}).stop();
  });

  test('is waited for by a process that has nothing else to do', () => {
    const { db, file } = fill('alone');
    db.close();
    const module = JSON.stringify(join(import.meta.dirname, 'writer-file.ts'));
    const program = `import(${module}).then(async ({ Checkpointer }) => {
      const checkpointer = new Checkpointer(${JSON.stringify(file)}, console.log);
      checkpointer.request();
      await checkpointer.stop();
      console.log('stopped');
    })`;
    expect(spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' }).stdout).toBe('stopped\n');
  });
});
