import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/fixtures/temporary.ts';
import { systemCode } from '../../../schema/errors.ts';
import { deleteDirectory } from './delete-directory.ts';

test('WORK-3: what a deletion has left at any moment still says whose it is', async () => {
  const directory = join(temporaryDirectory(), 'tree');
  mkdirSync(directory);
  for (const name of ['.git', ...Array.from({ length: 300 }, (_, index) => `file-${index}`)])
    writeFileSync(join(directory, name), name);
  let looks = 0;
  const nameless: string[][] = [];
  const look = (): void => {
    // Another thread deletes it: it may be gone at any moment.
    const names = namesIn(directory);
    if (names === null) return;
    looks += 1;
    if (names.length > 0 && !names.includes('.git')) nameless.push(names);
  };
  let isOver = false;
  const deleted = deleteDirectory(directory, { facts: { links: [] } }).finally(() => {
    isOver = true;
  });
  for (; !isOver; await new Promise(setImmediate)) look();
  await deleted;
  expect(nameless).toEqual([]);
  expect(looks).toBeGreaterThan(1);
});

function namesIn(directory: string): string[] | null {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}
