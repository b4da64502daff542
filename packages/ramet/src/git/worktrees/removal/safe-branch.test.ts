import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkoutBytes, git, rametBranches, worktreePlace } from '../../../../test/fixtures/worktrees.ts';
import { deleteFreshBranch, deleteSafeBranch } from './safe-branch.ts';

test('WORK-3: a branch that an agent made lead to one of the user is deleted, and that of the user stays', async () => {
  const place = worktreePlace();
  const { root } = place.repository;
  const base = git(root, 'rev-parse', 'HEAD');
  git(root, 'branch', 'kept');
  const before = checkoutBytes(root);
  const ways = [
    () => deleteSafeBranch(place, 'ramet/led'),
    () => deleteFreshBranch(place, 'ramet/led', base),
  ];
  for (const remove of ways) {
    git(root, 'branch', 'ramet/led');
    writeFileSync(join(root, '.git/refs/heads/ramet/led'), 'ref: refs/heads/kept\n');
    await remove();
    expect(rametBranches(root)).toEqual([]);
    expect(git(root, 'rev-parse', 'kept')).toBe(base);
    expect(checkoutBytes(root)).toEqual(before);
  }
});

test('WORK-3: a branch that nobody worked on goes where only a ref of ours leads to its commit; work stays', async () => {
  const place = worktreePlace();
  const { root } = place.repository;
  const merged = git(root, 'commit-tree', '-p', 'HEAD', '-m', 'merged', 'HEAD^{tree}');
  git(root, 'update-ref', 'refs/ramet/integration/test', merged);
  git(root, 'branch', 'ramet/read', merged);
  expect(await deleteSafeBranch(place, 'ramet/read')).toBe('kept');
  expect(await deleteSafeBranch(place, 'ramet/read', merged)).toBe('deleted');
  const work = git(root, 'commit-tree', '-p', merged, '-m', 'work', 'HEAD^{tree}');
  git(root, 'update-ref', 'refs/ramet/wip/test', work);
  git(root, 'branch', 'ramet/worked', work);
  expect(await deleteSafeBranch(place, 'ramet/worked', merged)).toBe('kept');
  git(root, 'update-ref', '-d', 'refs/ramet/integration/test');
  git(root, 'update-ref', '-d', 'refs/ramet/wip/test');
  git(root, 'branch', 'ramet/alone', merged);
  git(root, 'branch', '-D', 'ramet/worked');
  expect(await deleteSafeBranch(place, 'ramet/alone', merged)).toBe('kept');
});
