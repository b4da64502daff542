import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { temporaryDirectory } from '../../../../test/fixtures/temporary.ts';
import { systemCode } from '../../../schema/errors.ts';
import { deleteDirectory, deleteLater } from './delete-directory.ts';

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

test('WORK-3: what is deleted later is gone when that was waited for, one or many', async () => {
  const root = temporaryDirectory();
  const paths = ['one', 'two', 'three'].map((name) => join(root, name));
  for (const path of paths) mkdirSync(join(path, 'below'), { recursive: true });
  const [one, two, three] = paths.map(deleteLater);
  await two?.();
  // Those that came at the same time are deleted together.
  expect(namesIn(root)).toEqual([]);
  await Promise.all([one?.(), three?.()]);
  const late = join(root, 'late');
  mkdirSync(late);
  await deleteLater(late)();
  expect(namesIn(root)).toEqual([]);
});

test('WORK-3: what is deleted later is deleted although the process ends at once', async () => {
  const root = temporaryDirectory();
  mkdirSync(join(root, 'tree', 'below'), { recursive: true });
  const file = JSON.stringify(join(import.meta.dirname, 'delete-directory.ts'));
  const script = `(await import(${file})).deleteLater(${JSON.stringify(join(root, 'tree'))}); process.exit();`;
  execFileSync(process.execPath, ['--input-type=module', '-e', script]);
  await vi.waitFor(() => expect(namesIn(root)).toEqual([]), 10_000);
});

function namesIn(directory: string): string[] | null {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}
