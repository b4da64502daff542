import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { runSync } from '../../../../../test/fixtures/run-sync.ts';
import { test } from '../../../../../test/fixtures/temporary-directory.ts';
import { projectFiles } from '../../../../sdk/calls/project-files.ts';
import { FileSearch } from './file-search.ts';

async function searching(paths: readonly string[]): Promise<FileSearch> {
  const read = Promise.withResolvers<void>();
  const search = new FileSearch({ list: async () => paths, changed: () => read.resolve() });
  search.find('');
  await read.promise;
  return search;
}

describe('UI-3: files behind an @', () => {
  test('are found by scattered letters, the nearest match first', async () => {
    const search = await searching(['src/cli/chat.ts', 'src/cli/chart-of-test.ts', 'docs/chat.md', 'x/y.ts']);
    expect(search.find('chat.ts')[0]).toBe('src/cli/chat.ts');
    expect(search.find('scc')).toContain('src/cli/chat.ts');
    expect(search.find('zzz')).toEqual([]);
    expect(search.find('')).toHaveLength(4);
    expect(search.find('"chat')[0]).toMatch(/chat/);
  });

  test('a search is the same typed letter by letter or at once, also among 50,000', async () => {
    const paths = Array.from(
      { length: 50_000 },
      (_, index) => `packages/p${index % 97}/src/file-${index}.ts`,
    );
    const [typed, whole] = [await searching(paths), await searching(paths)];
    const wanted = 'p39file49994';
    for (let length = 1; length < wanted.length; length++) typed.find(wanted.slice(0, length));
    expect(typed.find(wanted)).toEqual(whole.find(wanted));
    expect(typed.find(wanted)[0]).toContain('file-49994');
    expect(typed.find('')).toHaveLength(50);
  });

  test('show nothing until they are read, and nothing when they cannot be', async () => {
    const failed = new FileSearch({ list: () => Promise.reject(new Error('no')), changed: () => {} });
    expect(failed.find('')).toEqual([]);
    expect(failed.find('a')).toEqual([]);
  });

  test('are those that git does not ignore; outside git all but hidden folders and node_modules', async ({
    directory,
  }) => {
    for (const folder of ['src', 'node_modules/x', '.hidden'])
      mkdirSync(join(directory, folder), { recursive: true });
    for (const path of ['src/a.ts', 'node_modules/x/i.js', '.hidden/b', 'secret.env', '.gitignore'])
      writeFileSync(join(directory, path), path === '.gitignore' ? 'node_modules\n*.env\n' : '');
    const env = { HOME: directory, PATH: process.env.PATH, RAMET_HOME: join(directory, '.ramet') };
    expect((await projectFiles({ cwd: directory, env })).toSorted()).toEqual([
      '.gitignore',
      'secret.env',
      'src/a.ts',
    ]);
    runSync('git', ['init', '-q'], { cwd: directory, env });
    expect((await projectFiles({ cwd: directory, env })).toSorted()).toEqual([
      '.gitignore',
      '.hidden/b',
      'src/a.ts',
    ]);
  });
});
