import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { FileGuard } from './writer-file.ts';

const root = mkdtempSync(join(tmpdir(), 'ramet-guard-'));
afterAll(() => rmSync(root, { recursive: true }));

let count = 0;
/** Times are in whole milliseconds, so that they can be set again exactly. */
const LONG_AGO = 1_700_000_000_123;

function newFile(changed = LONG_AGO): { directory: string; file: string; guard: FileGuard } {
  const directory = join(root, String(++count));
  mkdirSync(directory);
  const file = join(directory, 's.sqlite');
  writeFileSync(file, '');
  writeFileSync(`${file}-wal`, '');
  setTime(directory, changed);
  return { directory, file, guard: new FileGuard(file) };
}

function setTime(directory: string, time: number): void {
  utimesSync(directory, time / 1_000, time / 1_000);
}

describe('LOG-1: the guard of a session file', () => {
  test.each(['', '-wal'])('sees that its file%s is removed, after looks that were well', (end) => {
    const { file, guard } = newFile();
    guard.look(LONG_AGO + 10_000);
    guard.look(LONG_AGO + 10_001);
    rmSync(file + end);
    expect(() => guard.look(LONG_AGO + 10_002)).toThrow(`${file}${end}: it was removed or replaced`);
  });

  test('sees that its whole directory is another one with the same time', () => {
    const { directory, file, guard } = newFile();
    guard.look(LONG_AGO + 10_000);
    renameSync(directory, `${directory}.old`);
    mkdirSync(directory);
    setTime(directory, LONG_AGO);
    expect(() => guard.look(LONG_AGO + 10_001)).toThrow(`${file}: it was removed or replaced`);
  });

  test.each([
    ['just now', LONG_AGO, 20],
    ['in this second, where times are whole seconds', 1_700_000_000_000, 900],
    ['in the time to come', LONG_AGO, -60_000],
  ])('trusts no time of a directory that changed %s', (_, changed, age) => {
    const { directory, file, guard } = newFile(changed);
    guard.look(changed + age);
    rmSync(`${file}-wal`);
    setTime(directory, changed);
    expect(statSync(directory).mtimeMs).toBe(changed);
    expect(() => guard.look(changed + 1_000_000)).toThrow(`${file}-wal: it was removed or replaced`);
  });

  test('bears other changes in its directory', () => {
    const { directory, guard } = newFile();
    guard.look(LONG_AGO + 10_000);
    writeFileSync(join(directory, 'other.sqlite'), '');
    guard.look(LONG_AGO + 10_001);
  });
});
