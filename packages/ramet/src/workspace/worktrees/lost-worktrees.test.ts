import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { git, OWNER, worktreePlace } from '../../../test/fixtures/worktrees.ts';
import { collectGarbage } from './collect-garbage.ts';
import { createWorktree } from './create-worktree.ts';
import { lostWorktrees } from './lost-worktrees.ts';

describe('WORK-3: a worktree that the registry does not know', () => {
  test('is told of and left alone, and one that a person made is not mentioned', async () => {
    const place = worktreePlace();
    const { root } = place.repository;
    const { worktree } = await createWorktree(place, { name: 'fix', owner: OWNER });
    git(root, 'worktree', 'add', '-q', '--detach', join(temporaryDirectory(), 'mine'));
    expect(lostWorktrees(place)).toEqual([]);
    const other = worktreePlace({ root });
    expect(lostWorktrees(other)).toEqual([{ path: worktree.path, branch: 'ramet/fix' }]);
    await collectGarbage(other, { cleanupPeriodDays: 0 });
    expect(existsSync(worktree.path)).toBe(true);
  });
});
