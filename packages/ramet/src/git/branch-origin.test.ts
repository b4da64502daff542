import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory, temporaryRepository } from '../../test/fixtures/temporary.ts';
import { git } from '../../test/fixtures/worktrees.ts';
import { branchHolder } from './branch-holders.ts';

test('WORK-7: a branch is the worktree’s own when git made it there, renamed or not', () => {
  const [main, tree] = [temporaryRepository(), join(temporaryDirectory(), 'kid')];
  git(main, 'worktree', 'add', '-q', '-b', 'ramet/kid', tree);
  git(main, 'branch', 'users');
  const identity = ['-c', 'user.name=A', '-c', 'user.email=a@b.c'];
  for (const [name, ...start] of [
    ['switch', '-qc', 'feature/x'],
    ['checkout', '-qb', 'feature/y', 'main'],
    ['checkout', '-q', '--orphan', 'fresh'],
  ] as const) {
    git(tree, name, ...start);
    git(tree, ...identity, 'commit', '-q', '--allow-empty', '-m', 'w');
    git(tree, 'switch', '-q', 'ramet/kid');
  }
  git(tree, 'branch', '-m', 'feature/y', 'feature/z');
  for (const branch of ['feature/x', 'feature/z', 'fresh']) expect(branchHolder(tree, branch)).toBe('own');
  for (const branch of ['users', 'main']) expect(branchHolder(tree, branch)).toBe('others');
  git(main, 'switch', '-q', 'feature/x');
  expect(branchHolder(tree, 'feature/x')).toBe('others');
});
