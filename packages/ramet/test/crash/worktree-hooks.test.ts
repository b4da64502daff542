import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { leftByHooks } from '../../src/git/worktrees/hooked/expect-directory.ts';
import { collectGarbage } from '../../src/git/worktrees/removal/collect-garbage.ts';
import { settleWorktree } from '../../src/git/worktrees/removal/release-worktree.ts';
import { resumeWorktree } from '../../src/git/worktrees/resume-worktree.ts';
import type { WorktreePlace } from '../../src/git/worktrees/worktree-place.ts';
import { crashProgram } from '../fixtures/crash-programs.ts';
import { adoptByHook, hookTree } from '../fixtures/hooked-worktree.ts';
import { SAMPLE_TIMEOUT_MS } from '../fixtures/kill-sample.ts';
import { temporaryDirectory, temporaryRepository } from '../fixtures/temporary.ts';
import { FILES, git, OWNER, rametBranches, worktreePlace } from '../fixtures/worktrees.ts';

const WORKER = crashProgram('worktree-worker');
/** In order; with those of a removal by the hook, the hook's own among them. */
const ADOPT = ['hook begun', 'hook ended', 'branch given up', 'adopted', 'put on its branch'];
const REMOVE = ['trashing', 'hook begun', 'hook ended', 'trashed', 'unregistered', 'branch deleted'];

interface Killed {
  place: WorktreePlace;
  steps: string[];
  path: string;
}

function run(what: string, step: string): Killed {
  const root = temporaryRepository(FILES);
  const home = join(temporaryDirectory(), 'home');
  const args = [WORKER, root, home, what, step];
  const { stdout } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const place = worktreePlace({ root, home });
  return { place, steps: stdout.split('\n').filter(Boolean), path: hookTree(place, 'agent') };
}

const listed = (root: string): string => git(root, 'worktree', 'list', '--porcelain');

describe('WORK-3, EXT-2: a process killed', { timeout: SAMPLE_TIMEOUT_MS }, () => {
  test('while a hook makes a worktree leaves what the hook made to a person, or to a row', async () => {
    const { steps } = run('adopt', 'never');
    expect(steps.filter((step) => ADOPT.includes(step))).toEqual(ADOPT);
    for (const step of ADOPT) {
      const { place, path } = run('adopt', step);
      const { root } = place.repository;
      const row = place.registry.list().find((each) => each.name === 'agent');
      const isAdopted = ADOPT.indexOf(step) >= ADOPT.indexOf('adopted');
      const isMade = step !== 'hook begun';
      expect(row?.path === path, step).toBe(isAdopted);
      expect(existsSync(path), step).toBe(isMade);
      await collectGarbage(place);
      await collectGarbage(place);
      expect(existsSync(path), step).toBe(isMade);
      if (isMade) expect(readFileSync(join(path, '.env'), 'utf8'), step).toBe('KEY=1\n');
      const orphans = isMade && !isAdopted ? [{ name: 'agent', path }] : [];
      expect(await leftByHooks(place), step).toEqual(orphans);
      // Also when its row is only a memory.
      if (row !== undefined && !isAdopted) {
        await settleWorktree(place, place.registry.find(row.id) ?? row, { pools: false });
        expect(await leftByHooks(place), step).toEqual(orphans);
        expect(rametBranches(root), step).toEqual([]);
        expect(git(root, 'for-each-ref', '--format=%(refname:short)', 'refs/heads/task'), step).toBe(
          isMade ? 'task/agent' : '',
        );
      }
      const next = await adoptByHook(place, 'next', OWNER);
      expect(git(next.path, 'rev-parse', '--abbrev-ref', 'HEAD'), step).toBe('ramet/next');
      expect(git(root, 'fsck', '--strict', '--no-dangling'), step).toBe('');
    }
  });

  test('after its row has what the hook made continues there', async () => {
    for (const step of ['adopted', 'put on its branch']) {
      const { place, path } = run('adopt', step);
      const row = place.registry.list().find((each) => each.path === path);
      const back = await resumeWorktree(place, row?.id ?? '');
      expect(back.worktree.path, step).toBe(path);
      expect(back.how, step).toBe('restored');
    }
  });

  test('while a hook removes one leaves what the next clean-up sets right', async () => {
    expect(run('remove by hook', 'never').steps).toEqual(REMOVE);
    for (const step of REMOVE) {
      const { place, path } = run('remove by hook', step);
      const { root } = place.repository;
      await collectGarbage(place);
      await collectGarbage(place);
      expect(existsSync(path), step).toBe(false);
      expect(listed(root), step).not.toContain(path);
      expect(git(root, 'for-each-ref', '--format=%(refname:short)', 'refs/heads'), step).toBe('main');
      expect(await leftByHooks(place), step).toEqual([]);
    }
  });
});
