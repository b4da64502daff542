import { expect, test } from 'vitest';
import { attemptRepository, SESSION } from '../../../../../test/fixtures/attempts.ts';
import { git, rametBranches } from '../../../../../test/fixtures/worktrees.ts';
import { ReadingCheckouts, settleReading } from './reading-checkouts.ts';

test('OP-3: readers of a commit that only the run has come one after the other, and leave no branch', async () => {
  const { workspaces, root } = attemptRepository();
  const merged = git(root, 'commit-tree', '-p', 'HEAD', '-m', 'merged', 'HEAD^{tree}');
  git(root, 'update-ref', `refs/ramet/integration/${SESSION}`, merged);
  const checkouts = new ReadingCheckouts({ workspaces, cwd: root, session: SESSION, run: SESSION });
  for (const name of ['first', 'second', 'third']) {
    const { worktree } = await checkouts.enter(name, merged);
    expect(git(worktree.path, 'rev-parse', 'HEAD')).toBe(merged);
    await checkouts.leave(name, merged);
    // The second comes while the checkout of the first is given back, the third when that of the second is gone.
    if (name !== 'first') await workspaces.settled(worktree.id);
  }
  expect(rametBranches(root)).toEqual([]);
});

test('OP-3: what a killed process left for readers goes at the end of the run, not what is in use or of another run', async () => {
  const { workspaces, worktrees, root } = attemptRepository();
  const enter = async (run: string): Promise<string> => {
    const checkouts = new ReadingCheckouts({ workspaces, cwd: root, session: SESSION, run });
    return (await checkouts.enter('reader', git(root, 'rev-parse', 'HEAD'))).worktree.id;
  };
  const [left, other] = [await enter('killed'), await enter('another')];
  await settleReading(worktrees, 'killed');
  expect(rametBranches(root)).toHaveLength(2);
  for (const id of [left, other])
    worktrees.registry.change(id, ['leased'], { lease: { pid: 2 ** 30, started: '1' } });
  await settleReading(worktrees, 'killed');
  expect(rametBranches(root)).toEqual([expect.stringContaining('read-another-')]);
});
