import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, temporaryRepository } from '../../../../test/fixtures/temporary.ts';
import { git } from '../../../../test/fixtures/worktrees.ts';
import { indexBytes } from './pool-size.ts';

describe('the size of an index', () => {
  test.each([2, 3, 4])('is that of its files, version %i', (version) => {
    const names = Array.from({ length: 300 }, (_, index) => `folder/${'n'.repeat(index % 40)}${index}`);
    const root = temporaryRepository(
      Object.fromEntries(names.map((name, index) => [name, 'x'.repeat(index)])),
    );
    git(root, 'update-index', '--index-version', String(version));
    // Version 3 is what git writes as soon as an entry has further flags.
    if (version === 3) git(root, 'update-index', '--skip-worktree', names[3] ?? '');
    expect(indexBytes(join(root, '.git/index'))).toBe((299 * 300) / 2);
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
