import {
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, writeFiles } from '../../../test/fixtures/temporary.ts';
import { KnownLists } from './known-lists.ts';
import { everyFile, listDirectory } from './repository-look.ts';

const LATER_MS = 60_000;

function looked(): { root: string; now(): string[]; fresh(): string[]; rest(): void } {
  const base = temporaryDirectory();
  const root = join(base, 'work');
  writeFiles(root, { 'a/b/x.sh': '', 'a/c/y.sh': '', 'z.sh': '' });
  const lists = new KnownLists(() => Date.now() + LATER_MS);
  const names = (list?: typeof listDirectory): string[] =>
    (everyFile(root, 100, 'any', list) ?? []).map(({ path }) => relative(root, path));
  return {
    root,
    now: () => names((...of) => lists.list(...of)),
    fresh: () => names(),
    /** Until the clock of the file system has ticked: what is changed then has another time. */
    rest() {
      const clock = join(base, 'clock');
      const ctime = (): bigint => {
        writeFileSync(clock, '');
        return statSync(clock, { bigint: true }).ctimeNs;
      };
      for (const before = ctime(); ctime() === before; );
    },
  };
}

describe('SEC-1: what is known of a directory', () => {
  test.for<[string, (root: string) => void]>([
    ['a new file', (root) => writeFileSync(join(root, 'a/b/new.sh'), '')],
    [
      'a new file whose folder gets its time back',
      (root) => {
        const { atime, mtime } = statSync(join(root, 'a/b'));
        writeFileSync(join(root, 'a/b/new.sh'), '');
        utimesSync(join(root, 'a/b'), atime, mtime);
      },
    ],
    ['a file that is gone', (root) => rmSync(join(root, 'a/c/y.sh'))],
    ['another name', (root) => renameSync(join(root, 'a/b/x.sh'), join(root, 'a/b/y.sh'))],
    [
      'two folders that have changed their names',
      (root) => {
        renameSync(join(root, 'a/b'), join(root, 'a/d'));
        renameSync(join(root, 'a/c'), join(root, 'a/b'));
        renameSync(join(root, 'a/d'), join(root, 'a/c'));
      },
    ],
    [
      'a link in the place of a folder',
      (root) => {
        renameSync(join(root, 'a/b'), join(root, '../b'));
        symlinkSync(join(root, '../b'), join(root, 'a/b'));
      },
    ],
    [
      'a link in the place of a file',
      (root) => {
        rmSync(join(root, 'z.sh'));
        symlinkSync('a/b/x.sh', join(root, 'z.sh'));
      },
    ],
    [
      'a folder in the place of a file',
      (root) => {
        rmSync(join(root, 'z.sh'));
        writeFiles(root, { 'z.sh/x.sh': '' });
      },
    ],
    ['a folder that is gone', (root) => rmSync(join(root, 'a'), { recursive: true })],
  ])('ends with %s', ([, change]) => {
    const { root, now, fresh, rest } = looked();
    rest();
    expect(now()).toEqual(fresh());
    expect(now()).toEqual(fresh());
    change(root);
    expect(now()).toEqual(fresh());
    rest();
    expect(now()).toEqual(fresh());
  });

  test('is not kept of one that could not be read', ({ skip }) => {
    if (process.getuid?.() === 0) skip('root reads every folder');
    const { root, now, rest } = looked();
    chmodSync(join(root, 'a'), 0o000);
    rest();
    expect(now()).toEqual(['z.sh']);
    chmodSync(join(root, 'a'), 0o755);
    expect(now()).toContain('a/b/x.sh');
  });

  test('is kept where it has rested, and only there', () => {
    const folder = temporaryDirectory();
    mkdirSync(join(folder, 'a'));
    const [rested, young] = [new KnownLists(() => Date.now() + LATER_MS), new KnownLists(() => Date.now())];
    expect(rested.list(folder, 'any')).toBe(rested.list(folder, 'any'));
    expect(young.list(folder, 'any')).not.toBe(young.list(folder, 'any'));
    expect(rested.list(folder, 'any')).toEqual(listDirectory(folder, 'any'));
  });
});
