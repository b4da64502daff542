import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryRepository } from '../../test/fixtures/temporary.ts';
import { git, gitVariables } from '../../test/fixtures/worktrees.ts';
import { createBranch } from './create-branch.ts';

function open(): { root: string; create: (branch: string) => Promise<void>; head: string } {
  const root = temporaryRepository();
  const head = git(root, 'rev-parse', 'HEAD');
  const repository = { root, commonDirectory: join(root, '.git') };
  const create = (branch: string): Promise<void> =>
    createBranch(repository, gitVariables(), { branch, commit: head });
  return { root, create, head };
}

describe('WORK-4: a branch made without a process', () => {
  test('is one that git knows, at its commit, and leaves no lock', async () => {
    const { root, create, head } = open();
    await create('ramet/fix');
    expect(git(root, 'for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads/ramet')).toBe(
      `${head} refs/heads/ramet/fix`,
    );
    expect(readdirSync(join(root, '.git/refs/heads/ramet'))).toEqual(['fix']);
    expect(git(root, 'fsck', '--strict')).toBe('');
  });

  test.each([
    ['exists', 'ramet/fix'],
    ['is above it', 'ramet'],
    ['is below it', 'ramet/fix/more'],
  ])('is refused when one %s, loose or packed', async (_, other) => {
    for (const isPacked of [false, true]) {
      const { root, create } = open();
      git(root, 'branch', other);
      if (isPacked) git(root, 'pack-refs', '--all', '--prune');
      await expect(create('ramet/fix')).rejects.toMatchObject({ code: 'branch_taken' });
      expect(git(root, 'for-each-ref', '--format=%(refname:short)', 'refs/heads')).toBe(`main\n${other}`);
      expect(existsSync(join(root, '.git/refs/heads/ramet/fix.lock'))).toBe(false);
    }
  });

  test('is made once by many who want it', async () => {
    const { create } = open();
    const ends = await Promise.allSettled(Array.from({ length: 8 }, () => create('ramet/fix')));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});
