import { describe, expect, test } from 'vitest';
import { parseGlob, splitGlobBase } from './glob-pattern.ts';

function matches(pattern: string, path: string): boolean {
  const glob = parseGlob(pattern);
  if (!glob.ok) throw new Error(glob.reason);
  return glob.matches(path);
}

describe('glob patterns', () => {
  test.for([
    ['*.ts', ['a.ts', '.a.ts'], ['a.js', 'b/a.ts', 'a.tsx']],
    ['**/*.ts', ['a.ts', 'b/a.ts', 'b/c/.d/a.ts'], ['a.js']],
    ['src/**', ['src/a', 'src/b/c'], ['src', 'other/src/a']],
    ['**', ['a', 'a/b'], []],
    ['src/', ['src'], ['src/a']],
    ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b'], ['a/bb', 'b', 'a/x/b/c']],
    ['**/a/**/b/**/c', ['a/b/c', 'x/a/b/b/c', 'a/a/x/b/y/c'], ['a/c', 'b/c']],
    ['?.txt', ['a.txt', 'é.txt'], ['.txt', 'ab.txt']],
    ['[a-c]x', ['ax', 'cx'], ['dx', 'x']],
    ['[!a-c]x', ['dx'], ['ax']],
    ['[]]x', [']x'], ['ax']],
    ['*.{ts,tsx}', ['a.ts', 'a.tsx'], ['a.t', 'a.{ts,tsx}']],
    ['{a,b/{c,d}}/e', ['a/e', 'b/c/e', 'b/d/e'], ['b/e']],
    ['a{,b}c', ['ac', 'abc'], ['abbc']],
    ['\\*.ts', ['*.ts'], ['a.ts']],
    ['*a*b*', ['ab', 'xaxbx'], ['ba']],
    ['./a', ['a'], []],
  ] as const)('%s', ([pattern, hits, misses]) => {
    expect(hits.filter((path) => !matches(pattern, path))).toEqual([]);
    expect(misses.filter((path) => matches(pattern, path))).toEqual([]);
  });

  test.for(['{a', 'a}', '[a', '{{a,b}', '{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}'])(
    'a bad one is named: %s',
    (pattern) => {
      expect(parseGlob(pattern)).toEqual({ ok: false, reason: expect.stringContaining('Bad glob') });
    },
  );

  test('many wildcards on a long name end', () => {
    expect(matches(`${'*a'.repeat(30)}b`, 'a'.repeat(5_000))).toBe(false);
    expect(matches(`${'**/a/'.repeat(30)}b`, 'a/'.repeat(2_000))).toBe(false);
  });

  test.for([
    ['src/lib/**/*.ts', 'src/lib', '**/*.ts'],
    ['*.ts', '', '*.ts'],
    ['/etc/*.conf', '/etc', '*.conf'],
    ['/*.conf', '/', '*.conf'],
    ['../x/a.ts', '../x', 'a.ts'],
    ['src/', 'src', '**'],
  ] as const)('%s starts in "%s"', ([pattern, base, rest]) => {
    expect(splitGlobBase(pattern)).toEqual({ base, rest });
  });
});
