import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { git, OWNER, worktreePlace } from '../../../../test/fixtures/worktrees.ts';
import { createWorktree } from '../create-worktree.ts';
import { releaseWorktree } from '../removal/release-worktree.ts';
import type { ManagedWorktree } from '../worktree.ts';
import type { WorktreePlace } from '../worktree-place.ts';
import { workInTime } from './work-in-time.ts';

const NO_TIME = AbortSignal.abort();
const ALL_TIME = new AbortController().signal;

async function kept(place: WorktreePlace, name: string): Promise<string> {
  const { worktree } = await createWorktree(place, { name, owner: OWNER });
  writeFileSync(join(worktree.path, 'first.txt'), 'work');
  await releaseWorktree(place, worktree.id)?.settled;
  return worktree.id;
}

async function textsOf(place: WorktreePlace, id: string, patience: AbortSignal): Promise<string[]> {
  const rows = place.registry.list().filter((row): row is ManagedWorktree => row.id === id);
  const found = (await workInTime(place, rows, { patience, largeIndex: 0 })).get(id);
  return found?.reasons.map(({ text }) => text) ?? ['nobody looked'];
}

describe('WORK-3: what a list says about files', () => {
  test('is what was found when the worktree was given back, where there is no time to look', async () => {
    const place = worktreePlace();
    const id = await kept(place, 'fix');
    const path = place.registry.find(id)?.path ?? '';
    writeFileSync(join(path, 'second.txt'), 'work');
    expect(await textsOf(place, id, NO_TIME)).toEqual(['not known to git: first.txt']);
    expect(await textsOf(place, id, ALL_TIME)).toEqual(['not known to git: first.txt, second.txt']);
    // What was found then is what is remembered from now on.
    expect(await textsOf(place, id, NO_TIME)).toEqual(['not known to git: first.txt, second.txt']);
  });

  test('is always looked up in a small worktree', async () => {
    const place = worktreePlace();
    const id = await kept(place, 'fix');
    const rows = place.registry.list();
    writeFileSync(join(rows[0]?.path ?? '', 'second.txt'), 'work');
    const found = (await workInTime(place, rows, { patience: NO_TIME })).get(id);
    expect(found?.reasons[0]?.text).toBe('not known to git: first.txt, second.txt');
  });

  test('is looked up, however long it takes, where nobody has looked or git wrote the index since', async () => {
    const place = worktreePlace();
    const { worktree } = await createWorktree(place, { name: 'busy', owner: OWNER });
    writeFileSync(join(worktree.path, 'first.txt'), 'work');
    expect(await textsOf(place, worktree.id, NO_TIME)).toEqual(['not known to git: first.txt']);
    git(worktree.path, 'add', 'first.txt');
    expect(await textsOf(place, worktree.id, NO_TIME)).toEqual(['staged and not committed: first.txt']);
  });
});
