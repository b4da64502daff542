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
