import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, writeFiles } from '../../test/fixtures/temporary.ts';
import { globPaths, parseGlob } from './glob-pattern.ts';

function tree(): string {
  const root = temporaryDirectory();
  const names = [
    '.env',
    'a.env',
    'config/.local.json',
    'config/b.local.json',
    'packages/one/.env',
    'packages/two/deep/.env',
    'packages/two/node_modules/x/.env',
    '.git/.env',
  ];
  writeFiles(root, Object.fromEntries(names.map((name) => [name, ''])));
  mkdirSync(join(root, 'packages/empty'));
  symlinkSync(root, join(root, 'packages/ring'));
  symlinkSync(join(root, 'config'), join(root, 'linked'));
  return root;
}

function paths(root: string, pattern: string): string[] {
  const glob = parseGlob(pattern);
  if (!glob.ok) throw new Error(glob.reason);
  return globPaths(root, pattern, glob);
}

describe('paths on disk that match a pattern', () => {
  test.for<[string, string[]]>([
    ['.env', ['.env']],
    ['absent', []],
    ['.env/below', []],
    ['*.env', ['.env', 'a.env']],
    ['?.env', ['a.env']],
    ['config/*.local.json', ['config/.local.json', 'config/b.local.json']],
    ['{a.env,config/b.local.json}', ['a.env', 'config/b.local.json']],
    ['packages/*', ['packages/empty', 'packages/one', 'packages/ring', 'packages/two']],
    ['packages/[!t]*/.env', ['packages/one/.env']],
    ['**/.env', ['.env', 'packages/one/.env', 'packages/two/deep/.env']],
    [
      'packages/**',
      [
        'packages/empty',
        'packages/one',
        'packages/one/.env',
        'packages/ring',
        'packages/two',
        'packages/two/deep',
        'packages/two/deep/.env',
      ],
    ],
    ['linked/*', ['linked/.local.json', 'linked/b.local.json']],
    ['linked/b.local.json', ['linked/b.local.json']],
    ['.git/*', []],
    ['.git/.env', []],
    ['packages/two/node_modules/**', []],
    ['{..,config}/b.local.json', ['config/b.local.json']],
    ['./a.env', ['a.env']],
    ['\\a.env', ['a.env']],
  ])('%s', ([pattern, expected]) => {
    expect(paths(tree(), pattern)).toEqual(expected);
  });

  test('a folder that is not there holds nothing', () => {
    expect(paths('/nowhere/at/all', '**')).toEqual([]);
  });
});
