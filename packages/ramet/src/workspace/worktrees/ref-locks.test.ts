import { existsSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { git, OWNER, rametBranches, worktreePlace } from '../../../test/fixtures/worktrees.ts';
import { collectGarbage } from './collect-garbage.ts';
import { createWorktree } from './create-worktree.ts';
import { staleLockNotes } from './ref-locks.ts';
import type { WorktreePlace } from './worktree-place.ts';

/** No process has this number. */
const DEAD = { pid: 999_999_999, started: null };

async function halfMade(place: WorktreePlace, count: number): Promise<string[]> {
  const branches: string[] = [];
  for (let each = 0; each < count; each += 1) {
    const { worktree } = await createWorktree(place, { name: 'agent', owner: OWNER, numbered: true });
    place.registry.put({ ...worktree, state: 'making', lease: DEAD });
    branches.push(worktree.branch ?? '');
  }
  return branches;
}

function lock(place: WorktreePlace, name: string): string {
  const path = join(place.repository.commonDirectory, name);
  writeFileSync(path, '');
  const hourAgo = new Date(Date.now() - 3_600_000);
  utimesSync(path, hourAgo, hourAgo);
  return path;
}

describe('WORK-3: locks that a killed git has left', () => {
  test('on packed refs is named, and its branches go when it is gone', async () => {
    const place = worktreePlace();
    const branches = await halfMade(place, 3);
    const path = lock(place, 'packed-refs.lock');
    const entries = await collectGarbage(place);
    expect(entries.map(({ reasons }) => reasons.join())).toEqual(
      branches.map((branch) => expect.stringContaining(`${branch} cannot be deleted: packed-refs.lock`)),
    );
    expect(staleLockNotes(place)).toEqual([expect.stringContaining(`${path} is 3600 s old`)]);
    expect(existsSync(path)).toBe(true);
    rmSync(path);
    for (const row of place.registry.list()) place.registry.put({ ...row, lease: DEAD });
    await collectGarbage(place);
    expect(rametBranches(place.repository.root)).toEqual([]);
    expect(place.registry.list()).toEqual([]);
    expect(staleLockNotes(place)).toEqual([]);
  });

  test('on a branch of a dead maker goes, and on any other it is named', async () => {
    const place = worktreePlace();
    const [branch = ''] = await halfMade(place, 1);
    const own = lock(place, `refs/heads/${branch}.lock`);
    const other = lock(place, 'refs/heads/ramet/other.lock');
    await collectGarbage(place);
    expect(existsSync(own)).toBe(false);
    expect(existsSync(other)).toBe(true);
    expect(staleLockNotes(place)).toEqual([expect.stringContaining(other)]);
    expect(rametBranches(place.repository.root)).toEqual([]);
  });

  test('branches that go together go by one transaction', async () => {
    const place = worktreePlace();
    await halfMade(place, 4);
    git(place.repository.root, 'pack-refs', '--all');
    await collectGarbage(place);
    expect(rametBranches(place.repository.root)).toEqual([]);
  });
});
