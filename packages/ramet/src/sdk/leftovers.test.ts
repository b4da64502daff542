import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { gitVariables, OWNER, rametBranches, worktreePlace } from '../../test/fixtures/worktrees.ts';
import { createWorktree } from '../git/worktrees/create-worktree.ts';
import type { ManagedWorktree } from '../git/worktrees/worktree.ts';
import { systemClock } from '../schema/clock.ts';
import { cleanWorktrees } from './leftovers.ts';

const DAY_MS = 86_400_000;
/** No process has it: the system never gives this number away. */
const GONE = { pid: 2 ** 30, started: '1' };

describe('WORK-3: worktrees that nobody came back for', () => {
  test('go while a session runs, after the period that is set, if they hold nothing', async () => {
    const place = worktreePlace({ settings: { pool: 0 } });
    const leave = async (name: string): Promise<ManagedWorktree> => {
      const { worktree } = await createWorktree(place, { name, owner: OWNER });
      return place.registry.change(worktree.id, ['leased'], { lease: GONE }) ?? worktree;
    };
    const [empty, full] = [await leave('empty'), await leave('full')];
    writeFileSync(join(full.path, 'work.txt'), 'mine');
    const clean = (days: number): Promise<void> =>
      cleanWorktrees(
        {
          settings: { worktree: { pool: 0 }, cleanupPeriodDays: 7 },
          clock: { ...systemClock, now: () => Date.now() + days * DAY_MS },
        },
        {
          home: place.home,
          cwd: place.repository.root,
          repository: place.repository,
          project: place.project,
        },
        gitVariables(),
      );
    await clean(1);
    expect(existsSync(empty.path)).toBe(true);
    await clean(8);
    expect(existsSync(empty.path)).toBe(false);
    expect(existsSync(join(full.path, 'work.txt'))).toBe(true);
    expect(rametBranches(place.repository.root)).toEqual(['ramet/full']);
  });
});
