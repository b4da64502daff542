import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/fixtures/temporary.ts';
import { git, OWNER, rametBranches, worktreePlace } from '../../../../test/fixtures/worktrees.ts';
import { createWorktree } from '../create-worktree.ts';
import { collectGarbage } from './collect-garbage.ts';
import { lostWorktrees, type PrunedRegistration, pruneLost } from './lost-worktrees.ts';

const mergeLast = (a: PrunedRegistration, b: PrunedRegistration): number =>
  Number(a.worktree.path.endsWith('mine-2')) - Number(b.worktree.path.endsWith('mine-2'));

describe('WORK-3: a worktree that the registry does not know', () => {
  test('is reported and left alone, and one that a person made is not mentioned', async () => {
    const place = worktreePlace();
    const { root } = place.repository;
    const { worktree } = await createWorktree(place, { name: 'fix', owner: OWNER });
    git(root, 'worktree', 'add', '-q', '--detach', join(temporaryDirectory(), 'mine'));
    expect(lostWorktrees(place)).toEqual([]);
    const other = worktreePlace({ root });
    expect(lostWorktrees(other)).toMatchObject([{ path: worktree.path, branch: 'ramet/fix', isGone: false }]);
    await collectGarbage(other, { cleanupPeriodDays: 0 });
    expect(await pruneLost(other, false)).toEqual([]);
    expect(existsSync(worktree.path)).toBe(true);
  });

  test('is forgotten when its directory is gone too, with a branch that nothing needs', async () => {
    const place = worktreePlace();
    const { root } = place.repository;
    const [kept, empty] = await Promise.all(
      ['kept', 'empty'].map(async (name) => (await createWorktree(place, { name, owner: OWNER })).worktree),
    );
    const mine = join(temporaryDirectory(), 'mine');
    git(root, 'worktree', 'add', '-q', '--detach', '--lock', mine);
    git(kept?.path ?? '', 'commit', '-q', '--allow-empty', '-m', 'work');
    git(root, 'worktree', 'add', '-q', '--detach', '--lock', '--reason=ramet merge uses check', `${mine}-2`);
    for (const path of [place.home, mine, `${mine}-2`]) rmSync(path, { recursive: true });
    const other = worktreePlace({ root });
    const told = [
      { action: 'forget', worktree: { name: 'ramet/empty', path: empty?.path } },
      { action: 'forget', worktree: { name: 'ramet/kept' } },
      { action: 'forget', worktree: { path: `${mine}-2` } },
    ];
    const byName = (entries: PrunedRegistration[]): PrunedRegistration[] =>
      entries.sort((a, b) => Number(a.worktree.name < b.worktree.name ? -1 : 1)).sort(mergeLast);
    expect(byName(await pruneLost(other, true))).toMatchObject(told);
    expect(lostWorktrees(other)).toHaveLength(3);
    expect(byName(await pruneLost(other, false))).toMatchObject(told);
    expect(lostWorktrees(other)).toEqual([]);
    expect(git(root, 'worktree', 'list', '--porcelain').match(/^worktree .*$/gm)).toEqual([
      `worktree ${root}`,
      `worktree ${mine}`,
    ]);
    expect(rametBranches(root)).toEqual(['ramet/kept']);
    expect(git(root, 'fsck', '--strict')).toBe('');
  });

  test('stays known to git when only its HEAD leads to commits', async () => {
    const place = worktreePlace();
    const { worktree } = await createWorktree(place, { name: 'fix', owner: OWNER });
    git(worktree.path, 'checkout', '-q', '--detach');
    git(worktree.path, 'commit', '-q', '--allow-empty', '-m', 'work');
    rmSync(place.home, { recursive: true });
    const other = worktreePlace({ root: place.repository.root });
    expect(await pruneLost(other, false)).toMatchObject([
      { action: 'keep', reasons: [expect.stringContaining('only this registration leads to its commits')] },
    ]);
    expect(lostWorktrees(other)).toHaveLength(1);
  });
});
