import { describe, expect, test } from 'vitest';
import { isInside, pathInside } from './landing-path.ts';

const TABLE: readonly (readonly [path: string, directory: string, inside: string | null])[] = [
  ['/a', '/a', ''],
  ['/a/', '/a', ''],
  ['/a', '/a/', ''],
  ['/a/b', '/a', 'b'],
  ['/a/b/c', '/a/', 'b/c'],
  ['/ab', '/a', null],
  ['/a-b', '/a', null],
  ['/', '/a', null],
  ['/b', '/a', null],
  // The root holds everything.
  ['/', '/', ''],
  ['/a', '/', 'a'],
  ['/a/b', '/', 'a/b'],
  // Names that begin with dots are names.
  ['/a/..foo', '/a', '..foo'],
  ['/a/..foo/b', '/a', '..foo/b'],
  ['/a/...', '/a', '...'],
  ['/..foo', '/', '..foo'],
  // Steps back count, though nothing is looked up.
  ['/a/..', '/a', null],
  ['/a/../b', '/a', null],
  ['/a/b/..', '/a', ''],
  ['/a/./b//c', '/a', 'b/c'],
  ['/c/b', '/a/../c', 'b'],
  // A relative path lies nowhere: the process's own directory is nobody's here.
  ['', '/', null],
  ['a', '/', null],
  ['..', '/', null],
  ['/a', '', null],
  ['/a', '.', null],
];

describe('a path inside a directory', () => {
  test.each(TABLE)('%j in %j is %j', (path, directory, inside) => {
    expect(pathInside(path, directory)).toBe(inside);
    expect(isInside(path, directory)).toBe(inside !== null);
  });
});
