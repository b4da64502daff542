import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openMergeEntries } from '../../src/git/merge/merge-entries.ts';
import { runMergeQueue } from '../../src/git/merge/merge-queue.ts';
import { findMergeRepository } from '../../src/git/merge/merge-repository.ts';
import { createWorktree } from '../../src/git/worktrees/create-worktree.ts';
import { collectGarbage } from '../../src/git/worktrees/removal/collect-garbage.ts';
import type { ManagedWorktree } from '../../src/git/worktrees/worktree.ts';
import { adminDirectory, type WorktreePlace } from '../../src/git/worktrees/worktree-place.ts';
import { systemClock } from '../../src/schema/clock.ts';
import { commitFiles } from '../../src/sdk/worktrees/commit-worktree.ts';
import { listed } from '../../src/sdk/worktrees/open-place.ts';
import { viewOf } from '../../src/views/worktree-view.ts';
import { crashProgram } from '../fixtures/crash-programs.ts';
import { temporaryDirectory, temporaryRepository } from '../fixtures/temporary.ts';
import { FILES, git, gitVariables, rametBranches, worktreePlace } from '../fixtures/worktrees.ts';

const WORKER = crashProgram('worktree-worker');

/** A process killed after git knows the worktree and before its files are there. */
function killed(what: string, step: string): { place: WorktreePlace; tree: ManagedWorktree } {
  const root = temporaryRepository(FILES);
  const home = join(temporaryDirectory(), 'home');
  spawnSync(process.execPath, [WORKER, root, home, what, step], { stdio: 'ignore' });
  const place = worktreePlace({ root, home });
  const tree = place.registry.list().find(({ branch }) => branch === 'ramet/agent');
  if (tree === undefined) throw new Error('no row was left');
  return { place, tree };
}

async function mergeReason(place: WorktreePlace, branch: string): Promise<string> {
  const { project } = place;
  using entries = openMergeEntries(project);
  const repository = findMergeRepository(place.repository.root, gitVariables());
  const report = await runMergeQueue(
    {
      target: 'main',
      branches: [branch],
      strategy: 'merge',
      check: null,
      onConflict: 'person',
      updateCheckout: false,
    },
    { repository, project, entries, clock: systemClock },
  );
  return report.entries.map(({ reason }) => reason).join('\n');
}

describe('WORK-3: a worktree whose maker was killed', () => {
  test.each([
    ['create', 'registered'],
    ['create', 'checked out'],
    ['claim', 'files brought'],
  ])('holds no work for anybody (%s, %s)', async (what, step) => {
    const { place, tree } = killed(what, step);
    const before = git(place.repository.root, 'rev-parse', 'main', 'ramet/agent');
    expect(await mergeReason(place, 'ramet/agent')).toMatch(
      /half-made: its process was killed before any work; ramet worktree gc removes it$/,
    );
    expect(listed(place).map(({ id }) => id)).toContain(tree.id);
    expect(await viewOf(place, tree)).toMatchObject({
      state: 'half-made: ramet worktree gc removes it',
      holds: null,
    });
    await expect(commitFiles(place, tree, 'all')).rejects.toThrow('ramet worktree gc removes it');
    expect(git(place.repository.root, 'rev-parse', 'main', 'ramet/agent')).toBe(before);
    await collectGarbage(place);
    expect(rametBranches(place.repository.root)).not.toContain('ramet/agent');
  });

  test('is told as torn where only its files say so', async () => {
    const place = worktreePlace();
    const { worktree } = await createWorktree(place, { name: 'agent', owner: null });
    rmSync(join(adminDirectory(place, worktree), 'index'));
    place.registry.change(worktree.id, ['leased'], { state: 'released', lease: null });
    const row = place.registry.find(worktree.id) ?? worktree;
    expect(await mergeReason(place, 'ramet/agent')).toContain('every file counts as deleted');
    await expect(commitFiles(place, row, 'all')).rejects.toThrow('every file counts as deleted');
    place.registry.forget(worktree.id);
    expect(await mergeReason(place, 'ramet/agent')).toContain('every file counts as deleted');
  });
});
