import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { tendCompileCache } from './compile-cache.ts';
import { VERSION } from './version.ts';

const NOW = 1_800_000_000_000;
const NAME = `${VERSION}-${process.versions.node}`;

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'ramet-compile-cache-'));
});
afterEach(() => rmSync(home, { recursive: true }));

/** Node with its cache in `directory`, and how often it wrote it. */
function nodeWith(directory: string | undefined): {
  directory(): string | undefined;
  flush(): void;
  flushed: number;
} {
  return {
    flushed: 0,
    directory: () => directory,
    flush() {
      this.flushed += 1;
    },
  };
}

describe('the compile cache of an installed command', () => {
  test('is made for this user alone by a run that has none, and not filled by it', () => {
    const node = nodeWith(undefined);
    tendCompileCache(home, NOW, node);
    expect(statSync(join(home, 'cache', NAME)).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(home, 'cache', NAME))).toEqual([]);
    expect(node.flushed).toBe(0);
  });

  test('is written once by a run that uses it', () => {
    const node = nodeWith(join(home, 'cache', NAME, 'v24-x64'));
    mkdirSync(join(home, 'cache', NAME), { recursive: true });
    tendCompileCache(home, NOW, node);
    tendCompileCache(home, NOW, node);
    expect(node.flushed).toBe(1);
    expect(readdirSync(join(home, 'cache', NAME))).toEqual(['filled']);
  });

  test('is left alone where Node keeps its cache elsewhere', () => {
    const node = nodeWith(join(home, 'elsewhere'));
    tendCompileCache(home, NOW, node);
    expect(node.flushed).toBe(0);
    expect(existsSync(join(home, 'cache'))).toBe(false);
  });

  test('replaces those of other versions that are a month old', () => {
    for (const [name, days] of [
      ['0.0.1-24.0.0', 31],
      ['0.0.2-24.0.0', 29],
    ] as const) {
      mkdirSync(join(home, 'cache', name), { recursive: true });
      const time = (NOW - days * 24 * 3_600_000) / 1_000;
      utimesSync(join(home, 'cache', name), time, time);
    }
    tendCompileCache(home, NOW, nodeWith(undefined));
    expect(readdirSync(join(home, 'cache')).sort()).toEqual(['0.0.2-24.0.0', NAME].sort());
  });

  test('does no harm in a home where it cannot be made', () => {
    writeFileSync(join(home, 'cache'), 'a file in the way');
    expect(() => tendCompileCache(home, NOW, nodeWith(undefined))).not.toThrow();
  });
});
