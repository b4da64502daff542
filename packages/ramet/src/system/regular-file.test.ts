import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { loadFile, scanFile } from './regular-file.ts';

/** Whether another process can take that lock. */
function canBeTaken(file: string): boolean {
  const program = `const { DatabaseSync } = require('node:sqlite');
    try { new DatabaseSync(${JSON.stringify(file)}, { timeout: 0 }).exec('BEGIN EXCLUSIVE'); console.log('taken'); } catch { console.log('held'); }`;
  return execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' }).trim() === 'taken';
}

test('WORK-1: a file on which this process has a lock is not opened, and the lock stays', async () => {
  const file = join(temporaryDirectory(), '1.lock');
  writeFileSync(file, '');
  expect((await loadFile(file)).bytes).toHaveLength(0);
  const lock = new DatabaseSync(file, { timeout: 0 });
  lock.exec('BEGIN EXCLUSIVE');
  await expect(loadFile(file)).rejects.toThrow(/1\.lock is in use by Ramet itself.*with a Bash command/);
  await expect(scanFile(file, () => 'more', {})).rejects.toMatchObject({ code: 'ELOCKED' });
  expect(canBeTaken(file)).toBe(false);
  lock.close();
  expect((await loadFile(file)).bytes).toHaveLength(0);
});
