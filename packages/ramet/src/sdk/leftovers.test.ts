import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { gitVariables, OWNER, rametBranches, worktreePlace } from '../../test/fixtures/worktrees.ts';
import { isMarked, markAdoption } from '../engine/background/left-adoption.ts';
import { createWorktree } from '../git/worktrees/create-worktree.ts';
import { settleWorktree } from '../git/worktrees/removal/release-worktree.ts';
import type { ManagedWorktree } from '../git/worktrees/worktree.ts';
import type { WorktreePlace } from '../git/worktrees/worktree-place.ts';
import { createSession } from '../journal/sessions.ts';
import { systemClock } from '../schema/clock.ts';
import { adoptingSessions } from '../system/home.ts';
import { cleanWorktrees, finishAdoptions } from './leftovers.ts';

const DAY_MS = 86_400_000;
/** No process has it: the system never gives this number away. */
const GONE = { pid: 2 ** 30, started: '1' };

describe('BG-2: the mark of a session that adopts work', () => {
  test('is left alone while the session runs, and goes with what the session left', async () => {
    const [project, cwd] = [temporaryDirectory(), temporaryDirectory()];
    const journal = await createSession({ project, cwd });
    const outputs = join(project, journal.session);
    markAdoption(outputs);
    expect(await finishAdoptions({ project })).toEqual([]);
    expect(isMarked(outputs)).toBe(true);
    await journal.close();
    expect(await finishAdoptions({ project }, journal.session)).toEqual([]);
    expect(isMarked(outputs)).toBe(true);
    markAdoption(join(project, 'a0a0a0a0'));
    expect(await finishAdoptions({ project })).toEqual([]);
    expect(adoptingSessions(project)).toEqual([]);
  });
});

describe('WORK-3: worktrees that nobody came back for', () => {
  test('go while a session runs, after the period that is set, if they hold nothing', async () => {
    const place = worktreePlace({ settings: { pool: 0 } });
    const leave = async (name: string): Promise<ManagedWorktree> => {
      const { worktree } = await createWorktree(place, { name, owner: OWNER });
      return place.registry.change(worktree.id, ['leased'], { lease: GONE }) ?? worktree;
    };
    const [empty, full] = [await leave('empty'), await leave('full')];
    writeFileSync(join(full.path, 'work.txt'), 'mine');
    const clean = (days: number): Promise<void> => cleanUp(place, days);
    await clean(1);
    expect(existsSync(empty.path)).toBe(true);
    await clean(8);
    expect(existsSync(empty.path)).toBe(false);
    expect(existsSync(join(full.path, 'work.txt'))).toBe(true);
    expect(rametBranches(place.repository.root)).toEqual(['ramet/full']);
  });

  test('stay while the session that gave them back is at work, and so do the branches of its run', async () => {
    const place = worktreePlace({ settings: { pool: 0 } });
    const journal = await createSession({ project: place.project, cwd: place.repository.root });
    const owner = { session: journal.session, agent: `${journal.session}.1` };
    const given = await createWorktree(place, { name: 'given', owner });
    place.registry.change(given.worktree.id, ['leased'], { state: 'released', lease: null });
    const left = await createWorktree(place, { name: 'left', owner });
    place.registry.change(left.worktree.id, ['leased'], { state: 'released', lease: null });
    await settleWorktree(place, place.registry.find(left.worktree.id) ?? left.worktree, {
      ...{ pools: false, leavesBranch: true },
    });
    await cleanUp(place, 1);
    expect(existsSync(given.worktree.path)).toBe(true);
    expect(rametBranches(place.repository.root)).toEqual(['ramet/given', 'ramet/left']);
    await journal.close();
    await cleanUp(place, 1);
    expect(existsSync(given.worktree.path)).toBe(false);
    expect(rametBranches(place.repository.root)).toEqual([]);
  });
});

/** As some seconds into a session, `days` from now. */
function cleanUp(place: WorktreePlace, days: number): Promise<void> {
  const { home, project, repository } = place;
  const clock = { ...systemClock, now: () => Date.now() + days * DAY_MS };
  const settings = { worktree: { pool: 0 }, cleanupPeriodDays: 7 };
  return cleanWorktrees(
    { settings, clock },
    { home, cwd: repository.root, repository, project },
    gitVariables(),
  );
}
