import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { branchHeldTwice } from '../../src/git/branch-holders.ts';
import { createWorktree } from '../../src/git/worktrees/create-worktree.ts';
import { collectGarbage } from '../../src/git/worktrees/removal/collect-garbage.ts';
import { resumeWorktree, worktreeOfAgent } from '../../src/git/worktrees/resume-worktree.ts';
import { type WorktreePlace, worktreesDirectory } from '../../src/git/worktrees/worktree-place.ts';
import { crashProgram } from '../fixtures/crash-programs.ts';
import { SAMPLE_TIMEOUT_MS, sampleOf } from '../fixtures/kill-sample.ts';
import { temporaryDirectory, temporaryRepository } from '../fixtures/temporary.ts';
import { checkoutBytes, FILES, git, OWNER, rametBranches, worktreePlace } from '../fixtures/worktrees.ts';

const WORKER = crashProgram('worktree-worker');

/** The steps of each operation, in order: all of them, so that a new one without a line here is noticed. */
const STEPS: Record<string, string[]> = {
  create: [
    'reserved',
    'branch made',
    'directory made',
    'registered',
    'checked out',
    'files brought',
    'set up',
  ],
  claim: [
    'reserved',
    'claimed',
    'branch made for a claim',
    'moved out of the pool',
    'checked out',
    'files brought',
    'set up',
  ],
  pool: ['entered the pool', 'moved to the pool', 'taken off its branch', 'reset'],
  remove: ['trashing', 'moved to the trash', 'trashed', 'unregistered', 'branch deleted'],
  checkpoint: ['checkpoint begun', 'checkpoint trees written', 'checkpoint committed'],
};

/** Before git knows, half made, nearly done. The first two of "pool" and "remove" are killed at with work in the tree, below. */
const SAMPLE: Record<string, string[]> = {
  create: ['reserved', 'registered', 'files brought'],
  claim: ['claimed', 'moved out of the pool', 'set up'],
  pool: ['taken off its branch', 'reset'],
  remove: ['trashed', 'branch deleted'],
  checkpoint: ['checkpoint begun', 'checkpoint trees written', 'checkpoint committed'],
};

interface Killed {
  root: string;
  place: WorktreePlace;
  steps: string[];
  signal: NodeJS.Signals | null;
}

function run(what: string, step: string): Killed {
  const root = temporaryRepository(FILES);
  const home = join(temporaryDirectory(), 'home');
  const before = checkoutBytes(root);
  const { stdout, signal } = spawnSync(process.execPath, [WORKER, root, home, what, step], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  expect(checkoutBytes(root)).toEqual(before);
  const place = worktreePlace({ root, home });
  return { root, place, steps: stdout.split('\n').filter(Boolean), signal };
}

/** Registry, git and disk say the same, and nothing is half-made. */
function expectWhole({ root, place }: Killed): void {
  const living = place.registry.list().filter(({ state }) => state !== 'gone');
  expect(living.filter(({ state }) => !['leased', 'released', 'ready'].includes(state))).toEqual([]);
  const known = git(root, 'worktree', 'list', '--porcelain').matchAll(/^worktree (.+)$/gm);
  expect(Array.from(known, ([, path]) => path).sort()).toEqual(
    [root, ...living.map(({ path }) => path)].sort(),
  );
  expect(rametBranches(root).sort()).toEqual(living.flatMap(({ branch }) => branch ?? []).sort());
  for (const { path } of living) expect(git(path, 'rev-parse', '--show-toplevel')).toBe(path);
  const directories = readdirSync(worktreesDirectory(place)).filter((name) => !name.startsWith('.'));
  expect(directories.sort()).toEqual(
    living
      .filter(({ state }) => state !== 'ready')
      .map(({ name }) => name)
      .sort(),
  );
  expect(readdirSync(join(place.home, 'slots')).sort()).toEqual(
    living.map(({ slot }) => String(slot)).sort(),
  );
  expect(git(root, 'fsck', '--strict', '--no-dangling')).toBe('');
}

/** A checkpoint that was killed leaves the one before, and the files. */
async function expectWorkKept({ root, place }: Killed): Promise<void> {
  await collectGarbage(place, { cleanupPeriodDays: 0 });
  expect(git(root, 'show', 'refs/ramet/wip/abcdefgh.1:work.txt')).toBe('first');
  const back = await resumeWorktree(place, worktreeOfAgent(place, OWNER.agent)?.id ?? '');
  expect(readFileSync(join(back.worktree.path, 'work.txt'), 'utf8')).toBe('second\n');
}

describe('WORK-3, WORK-4: a process killed', { timeout: SAMPLE_TIMEOUT_MS }, () => {
  for (const [what, steps] of Object.entries(STEPS)) {
    test(`at any step of "${what}" leaves what the next clean-up sets right`, async () => {
      expect(run(what, 'never').steps).toEqual(steps);
      for (const step of sampleOf(steps, SAMPLE[what] ?? [])) {
        const killed = run(what, step);
        expect(killed.signal, step).toBe('SIGKILL');
        await collectGarbage(killed.place);
        // What was only taken back is judged by the second.
        await collectGarbage(killed.place);
        expectWhole(killed);
        if (what === 'checkpoint') await expectWorkKept(killed);
        const { worktree } = await createWorktree(killed.place, { name: 'agent', owner: null });
        expect(git(worktree.path, 'status', '--porcelain')).toBe('');
      }
    });
  }
});

describe('WORK-8: a process killed', { timeout: SAMPLE_TIMEOUT_MS }, () => {
  test.each([
    ['remove', ['moved to the trash', 'unregistered']],
    ['pool', ['moved to the pool', 'taken off its branch']],
  ])('at any step of "%s" leaves its agent a worktree to be continued in', async (what, sample) => {
    for (const step of sampleOf(STEPS[what] ?? [], sample)) {
      const killed = run(what, step);
      const { worktree } = await resumeWorktree(
        killed.place,
        worktreeOfAgent(killed.place, OWNER.agent)?.id ?? '',
      );
      // What an agent commits to a branch that another checkout is on too is refused.
      expect([step, worktree.branch, branchHeldTwice(worktree.path)]).toEqual([step, 'ramet/before', null]);
      expect(git(worktree.path, 'status', '--porcelain', '--branch')).toBe('## ramet/before');
      await collectGarbage(killed.place);
      expectWhole(killed);
    }
  });

  test('while it makes a worktree again leaves its agent one to be continued in', async () => {
    for (const step of sampleOf(STEPS.create ?? [], ['reserved', 'registered', 'set up'])) {
      for (const isCleaned of [false, true]) {
        const killed = run('restore', step);
        if (isCleaned) await collectGarbage(killed.place);
        const { worktree } = await resumeWorktree(
          killed.place,
          worktreeOfAgent(killed.place, OWNER.agent)?.id ?? '',
        );
        expect(git(worktree.path, 'status', '--porcelain', '--branch')).toBe('## ramet/before');
        await collectGarbage(killed.place);
        expectWhole(killed);
      }
    }
  });
});

describe('WORK-4: several processes', () => {
  test('make and give back worktrees of one repository at once', { timeout: 120_000 }, async () => {
    const root = temporaryRepository(FILES);
    const home = join(temporaryDirectory(), 'home');
    const workers = Array.from({ length: 4 }, () =>
      spawn(process.execPath, [WORKER, root, home, 'many'], { stdio: 'inherit' }),
    );
    const ends = await Promise.all(workers.map((worker) => once(worker, 'exit')));
    expect(ends.map(([code]) => code)).toEqual([0, 0, 0, 0]);
    const place = worktreePlace({ root, home });
    const leased = place.registry.list().filter(({ state }) => state === 'leased');
    expect(leased).toHaveLength(16);
    expectWhole({ root, place, steps: [], signal: null });
  });
});

describe('WORK-3: a process killed', () => {
  test('while it takes a tree away or into the pool loses nothing that was written to it meanwhile', async () => {
    const late = {
      pool: ['entered the pool', 'moved to the pool'],
      remove: ['trashing', 'moved to the trash'],
    };
    for (const [what, steps] of Object.entries(late)) {
      for (const step of steps) {
        const killed = run(what, step);
        const [row] = killed.place.registry.list().filter(({ facts }) => facts.elsewhere !== undefined);
        const tree = [row?.path ?? '', row?.facts.elsewhere ?? ''].find((path) => existsSync(path)) ?? '';
        writeFileSync(join(tree, 'late.txt'), 'work');
        await collectGarbage(killed.place, { cleanupPeriodDays: 0 });
        await collectGarbage(killed.place, { cleanupPeriodDays: 0 });
        expectWhole(killed);
        const path = join(worktreesDirectory(killed.place), 'before');
        expect(readFileSync(join(path, 'late.txt'), 'utf8'), step).toBe('work');
        expect(git(path, 'status', '--porcelain', '--branch')).toBe('## ramet/before\n?? late.txt');
      }
    }
  });
});
