import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, temporaryRepository } from '../../../../test/fixtures/temporary.ts';
import { git } from '../../../../test/fixtures/worktrees.ts';
import { indexBytes } from './pool-size.ts';

describe('the size of an index', () => {
  test.each([2, 3, 4])('is what its files and folders take in blocks, version %i', (version) => {
    const folder = (index: number): string => ['', 'a/', 'a/b/', 'a-b/', 'ab/c/d/'][index % 5] ?? '';
    const names = Array.from(
      { length: 300 },
      (_, index) => `${folder(index)}${'n'.repeat(index % 40)}${index}`,
    );
    const root = temporaryRepository(
      Object.fromEntries(names.map((name, index) => [name, 'x'.repeat(index * 20)])),
    );
    git(root, 'update-index', '--index-version', String(version));
    // Version 3 is what git writes as soon as an entry has further flags.
    if (version === 3) git(root, 'update-index', '--skip-worktree', names[3] ?? '');
    const files = names.reduce((sum, _, index) => sum + Math.ceil((index * 20) / 4_096), 0);
    // The top, a, a/b, a-b, ab, ab/c and ab/c/d.
    expect(indexBytes(join(root, '.git/index'))).toBe((files + 7) * 4_096);
  });

  test('is not known for what is none', () => {
    const file = join(temporaryDirectory(), 'index');
    expect(indexBytes(file)).toBeNull();
    for (const text of ['', 'DIRC', 'DIRC\0\0\0\x09\0\0\0\x01', 'DIRC\0\0\0\x02\0\0\0\x01']) {
      writeFileSync(file, text, 'latin1');
      expect(indexBytes(file)).toBeNull();
    }
  });
});
