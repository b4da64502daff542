import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryRepository, writeFiles } from '../../../../test/fixtures/temporary.ts';
import {
  checkoutBytes,
  FILES,
  git,
  OWNER,
  rametBranches,
  worktreePlace,
} from '../../../../test/fixtures/worktrees.ts';
import { leaveStarter, useStarter } from '../../../../test/worker-starter.ts';
import { whereCommitsAre } from '../changes/held-commits.ts';
import { createWorktree } from '../create-worktree.ts';
import { fillPool } from '../pool/pool.ts';
import { resumeWorktree, worktreeOfAgent } from '../resume-worktree.ts';
import { worktreesDirectory } from '../worktree-place.ts';
import { collectGarbage } from './collect-garbage.ts';
import { releaseWorktree } from './release-worktree.ts';
import { removeWorktree } from './remove-worktree.ts';

const owner = OWNER;

describe('WORK-3: a worktree that is given back', () => {
  test('vanishes when it holds nothing, with its branch and slot', async () => {
    const place = worktreePlace({ settings: { pool: 0 } });
    const { root } = place.repository;
    const before = checkoutBytes(root);
    const { worktree } = await createWorktree(place, { name: 'fix', owner });
    const settled = await releaseWorktree(place, worktree.id)?.settled;
    expect(settled).toMatchObject({ kept: false, became: 'removed' });
    expect(existsSync(worktree.path)).toBe(false);
    expect(rametBranches(root)).toEqual([]);
    expect(git(root, 'worktree', 'list').split('\n')).toHaveLength(1);
    expect(readdirSync(join(place.home, 'slots'))).toEqual([]);
    expect(checkoutBytes(root)).toEqual(before);
  });

  test('stays with its branch when it has changes, and says what', async () => {
    const place = worktreePlace();
    const { worktree } = await createWorktree(place, { name: 'fix', owner });
    writeFiles(worktree.path, { 'src/a.ts': 'changed\n' });
    git(worktree.path, 'commit', '-qam', 'work');
    writeFiles(worktree.path, { 'new.txt': '' });
    const settled = await releaseWorktree(place, worktree.id)?.settled;
    expect(settled).toMatchObject({
      kept: true,
      reasons: [
        { kind: 'untracked', text: 'not known to git: new.txt' },
        { kind: 'commits', text: /^1 commit that is not merged, at [0-9a-f]{12}$/ },
      ].map(({ kind, text }) => ({ kind, text: expect.stringMatching(text) })),
    });
    expect(readFileSync(join(worktree.path, 'src/a.ts'), 'utf8')).toBe('changed\n');
    expect(rametBranches(place.repository.root)).toEqual(['ramet/fix']);
  });

  test('BG-2: one to be thrown away goes whatever is in it, given back or left by a killed process', async () => {
    const place = worktreePlace({ settings: { pool: 1 } });
    const { root } = place.repository;
    const throwaway = { owner, dirty: 'carry', throwaway: true } as const;
    writeFiles(root, { 'src/a.ts': 'mine\n' });
    const { worktree } = await createWorktree(place, { name: 'ahead', ...throwaway });
    expect(readFileSync(join(worktree.path, 'src/a.ts'), 'utf8')).toBe('mine\n');
    writeFiles(worktree.path, { 'src/a.ts': 'changed\n', 'new.txt': '', '.env': 'x' });
    const settled = await releaseWorktree(place, worktree.id)?.settled;
    expect(settled).toMatchObject({ kept: false, became: 'pooled' });
    expect(readFileSync(join(root, 'src/a.ts'), 'utf8')).toBe('mine\n');

    const { worktree: claimed } = await createWorktree(place, {
      name: 'ahead',
      ...throwaway,
      numbered: true,
    });
    expect(claimed.facts.throwaway).toBe(true);
    writeFiles(claimed.path, { 'new.txt': '' });
    const dead = { pid: 2 ** 22 - 1, started: 'long ago' };
    place.registry.change(claimed.id, ['leased'], { lease: dead });
    const left = await collectGarbage(place);
    expect(left.find(({ worktree: { id } }) => id === claimed.id)).toMatchObject({ action: 'remove' });

    // The next one from there is work again.
    const { worktree: kept } = await createWorktree(place, { name: 'work', owner });
    writeFiles(kept.path, { 'new.txt': '' });
    expect(await releaseWorktree(place, kept.id)?.settled).toMatchObject({ kept: true });
  });

  test('says where its commits are when another branch has them', async () => {
    const place = worktreePlace();
    const { worktree } = await createWorktree(place, { name: 'fix', owner });
    expect(await whereCommitsAre(place, worktree, worktree.base)).toEqual([]);
    writeFiles(worktree.path, { 'src/a.ts': 'changed\n' });
    git(worktree.path, 'commit', '-qam', 'work');
    git(worktree.path, 'branch', 'ramet/other');
    const head = git(worktree.path, 'rev-parse', 'HEAD');
    expect(await whereCommitsAre(place, worktree, head)).toEqual(['its commits are on ramet/other']);
  });

  test('can be given back once', async () => {
    const place = worktreePlace();
    const { worktree } = await createWorktree(place, { name: 'fix', owner });
    const first = releaseWorktree(place, worktree.id);
    expect(releaseWorktree(place, worktree.id)).toBeNull();
    await first?.settled;
  });
});

describe('WORK-4: the pool', () => {
  test('hands a tree that was given back to the next, at its own path, as if it were new', async () => {
    const place = worktreePlace();
    const { root } = place.repository;
    const first = (await createWorktree(place, { name: 'first', owner })).worktree;
    writeFiles(first.path, { 'build/out.js': 'made\n' });
    expect(await releaseWorktree(place, first.id)?.settled).toMatchObject({ became: 'pooled' });
    expect(rametBranches(root)).toEqual([]);
    const { worktree, how, proof } = await createWorktree(place, { name: 'second', owner });
    expect(how).toBe('claimed');
    expect(worktree).toMatchObject({
      admin: first.admin,
      slot: first.slot,
      branch: 'ramet/second',
      state: 'leased',
    });
    expect(proof.topLevel).toBe(join(worktreesDirectory(place), 'second'));
    expect(git(worktree.path, 'status', '--porcelain', '--ignored', '--branch')).toBe('## ramet/second');
    expect(git(root, 'worktree', 'list', '--porcelain')).toContain(`worktree ${worktree.path}\n`);
    expect(git(root, 'fsck', '--strict')).toBe('');
  });

  test('brings a tree to a commit that has moved on', async () => {
    const place = worktreePlace();
    const { root } = place.repository;
    const first = (await createWorktree(place, { name: 'first', owner })).worktree;
    await releaseWorktree(place, first.id)?.settled;
    writeFiles(root, { 'src/a.ts': 'second\n' });
    git(root, 'commit', '-qam', 'second');
    const { worktree, how } = await createWorktree(place, { name: 'second', owner });
    expect(how).toBe('moved');
    expect(worktree.base).toBe(git(root, 'rev-parse', 'HEAD'));
    expect(readFileSync(join(worktree.path, 'src/a.ts'), 'utf8')).toBe('second\n');
    expect(git(worktree.path, 'status', '--porcelain')).toBe('');
  });

  test('does not hand out a tree that is not as it was left', async () => {
    const place = worktreePlace();
    const first = (await createWorktree(place, { name: 'first', owner })).worktree;
    await releaseWorktree(place, first.id)?.settled;
    const [ready] = place.registry.list().filter(({ state }) => state === 'ready');
    git(ready?.path ?? '', 'checkout', '-q', '-b', 'another');
    const { how } = await createWorktree(place, { name: 'second', owner });
    expect(how).toBe('made');
  });

  test('runs the setup command before a tree is claimed, once', async () => {
    const place = worktreePlace({ settings: { setup: 'mkdir -p build && echo x >> build/ran' } });
    const first = (await createWorktree(place, { name: 'first', owner })).worktree;
    await releaseWorktree(place, first.id)?.settled;
    const { worktree, setup, how } = await createWorktree(place, { name: 'second', owner });
    expect({ how, setup }).toEqual({ how: 'claimed', setup: null });
    expect(readFileSync(join(worktree.path, 'build/ran'), 'utf8')).toBe('x\n');
  });

  test('gives a tree back to its place when something was written while it was taken in', async () => {
    const root = temporaryRepository(FILES);
    let path = '';
    const onStep = (step: string): void => {
      if (step === 'entered the pool') writeFiles(path, { 'late.txt': 'work\n' });
    };
    const place = worktreePlace({ root, onStep });
    const { worktree } = await createWorktree(place, { name: 'fix', owner });
    path = worktree.path;
    expect(await releaseWorktree(place, worktree.id)?.settled).toMatchObject({
      kept: true,
      reasons: [{ kind: 'untracked' }],
    });
    expect(readFileSync(join(path, 'late.txt'), 'utf8')).toBe('work\n');
    expect(git(path, 'status', '--porcelain', '--branch')).toBe('## ramet/fix\n?? late.txt');
    expect(place.registry.list()).toMatchObject([
      { id: worktree.id, state: 'released', slot: worktree.slot },
    ]);
  });

  test.each([
    [4, 'entered the pool', 'its own branch'],
    [4, 'entered the pool', 'no branch'],
    [0, 'trashing', 'its own branch'],
  ] as const)(
    'stays with a commit that was made since it was judged (pool of %i, %s, on %s)',
    async (pool, moment, where) => {
      let path = '';
      const onStep = (step: string): void => {
        if (step !== moment || path === '') return;
        if (where === 'no branch') git(path, 'checkout', '-q', '--detach');
        writeFiles(path, { 'late.txt': 'work\n' });
        git(path, 'add', 'late.txt');
        git(path, 'commit', '-qm', 'late');
      };
      const place = worktreePlace({ onStep, settings: { pool } });
      const { worktree } = await createWorktree(place, { name: 'fix', owner });
      path = worktree.path;
      expect(await releaseWorktree(place, worktree.id)?.settled).toMatchObject({
        ...{ kept: true, reasons: [{ kind: where === 'no branch' ? 'detached' : 'commits' }] },
      });
      expect(git(path, 'show', 'HEAD:late.txt')).toBe('work');
      expect(place.registry.list()).toMatchObject([{ id: worktree.id, state: 'released' }]);
    },
  );

  test('does not take a tree that was taken and given back since it was judged', async () => {
    let time = 1;
    const place = worktreePlace({ now: () => time });
    const { worktree } = await createWorktree(place, { name: 'fix', owner });
    place.registry.change(worktree.id, ['leased'], { state: 'released', lease: null });
    const judged = place.registry.find(worktree.id);
    time = 2;
    await resumeWorktree(place, worktree.id);
    place.registry.change(worktree.id, ['leased'], { state: 'released', lease: null });
    expect(judged && (await fillPool(place, judged, null))).toBeNull();
    expect(judged && (await removeWorktree(place, judged))).toMatchObject({ removed: false });
    expect(existsSync(worktree.path)).toBe(true);
  });

  test('gives one tree to one of many who want it', async () => {
    const place = worktreePlace();
    const first = (await createWorktree(place, { name: 'first', owner })).worktree;
    await releaseWorktree(place, first.id)?.settled;
    const created = await Promise.all(
      Array.from({ length: 8 }, (_, index) => createWorktree(place, { name: `agent-${index}`, owner })),
    );
    expect(created.filter(({ how }) => how === 'claimed')).toHaveLength(1);
    expect(new Set(created.map(({ worktree }) => worktree.admin)).size).toBe(8);
    expect(new Set(created.map(({ worktree }) => worktree.slot)).size).toBe(8);
  });
});

describe('WORK-4: a claim', () => {
  test('takes over id, registration and slot of the ready tree, and no other', async () => {
    const place = worktreePlace();
    const first = (await createWorktree(place, { name: 'first', owner })).worktree;
    await releaseWorktree(place, first.id)?.settled;
    const [ready] = place.registry.list().filter(({ state }) => state === 'ready');
    const { worktree, how } = await createWorktree(place, { name: 'second', owner });
    const { id, admin, slot } = worktree;
    expect({ how, id, admin, slot }).toEqual({
      ...{ how: 'claimed', id: ready?.id, admin: ready?.admin, slot: ready?.slot },
    });
    expect(place.registry.list().map(({ state }) => state)).toEqual(['gone', 'leased']);
    expect(readdirSync(join(place.home, 'slots'))).toEqual([String(slot)]);
    expect(git(worktree.path, 'status', '--porcelain', '--branch')).toBe('## ramet/second');
  });

  test('removes a ready tree that was changed, and takes the next', async () => {
    const place = worktreePlace();
    const made = await Promise.all(['one', 'two'].map((name) => createWorktree(place, { name, owner })));
    for (const { worktree } of made) await releaseWorktree(place, worktree.id)?.settled;
    const [broken, good] = place.registry.list().filter(({ state }) => state === 'ready');
    git(broken?.path ?? '', 'checkout', '-q', '-b', 'theirs');
    const { worktree, how } = await createWorktree(place, { name: 'third', owner });
    expect({ how, admin: worktree.admin }).toEqual({ how: 'claimed', admin: good?.admin });
    expect(existsSync(broken?.path ?? '')).toBe(false);
    expect(readdirSync(join(place.home, 'slots'))).toEqual([String(worktree.slot)]);
  });

  test('begins when the look at the asking checkout has begun, and runs beside it', async () => {
    const running: string[][] = [];
    const onStep = (step: string): void => {
      if (step === 'reserved') running.push(process.getActiveResourcesInfo());
    };
    const place = worktreePlace({ onStep });
    leaveStarter();
    onTestFinished(useStarter);
    await createWorktree(place, { name: 'first', owner });
    expect(running).toEqual([expect.arrayContaining(['ProcessWrap'])]);
  });
});

describe('WORK-8: an agent that is continued', () => {
  test.each([0, 4])(
    'gets its vanished worktree back at the same path, branch and base (pool of %i)',
    async (pool) => {
      const place = worktreePlace({ settings: { pool } });
      const { worktree } = await createWorktree(place, { name: 'fix', owner });
      await releaseWorktree(place, worktree.id)?.settled;
      git(place.repository.root, 'commit', '-q', '--allow-empty', '-m', 'meanwhile');
      const known = worktreeOfAgent(place, owner.agent);
      const back = await resumeWorktree(place, known?.id ?? '');
      const { id, path, branch, base, slot } = worktree;
      expect(back.worktree).toMatchObject({ id, path, branch, base, state: 'leased' });
      if (pool === 0) expect(back.worktree.slot).toBe(slot);
      expect(git(path, 'status', '--porcelain', '--branch')).toBe('## ramet/fix');
    },
  );

  test('leaves the tree it had to the one who has it by now', async () => {
    const place = worktreePlace();
    const { worktree } = await createWorktree(place, { name: 'fix', owner });
    await releaseWorktree(place, worktree.id)?.settled;
    const next = await createWorktree(place, { name: 'next', owner: { ...owner, agent: 'abcdefgh.9' } });
    expect([next.how, next.worktree.admin]).toEqual(['claimed', worktree.admin]);
    writeFiles(next.worktree.path, { 'new.txt': 'work\n' });
    await resumeWorktree(place, worktree.id);
    expect(git(next.worktree.path, 'status', '--porcelain', '--branch')).toBe('## ramet/next\n?? new.txt');
    expect(git(worktree.path, 'status', '--porcelain', '--branch')).toBe('## ramet/fix');
  });

  test('gets the one that stayed, work and all, unless another agent has it', async () => {
    const place = worktreePlace();
    const { worktree } = await createWorktree(place, { name: 'fix', owner });
    writeFiles(worktree.path, { 'new.txt': 'work\n' });
    await releaseWorktree(place, worktree.id)?.settled;
    const back = await resumeWorktree(place, worktree.id);
    expect(readFileSync(join(back.worktree.path, 'new.txt'), 'utf8')).toBe('work\n');
    place.registry.put({ ...back.worktree, lease: { pid: 1, started: null } });
    await expect(resumeWorktree(place, worktree.id)).rejects.toMatchObject({ code: 'worktree_in_use' });
  });

  test('is told when its place is taken, and can be continued later', async () => {
    const place = worktreePlace({ settings: { pool: 0 } });
    const { worktree } = await createWorktree(place, { name: 'fix', owner });
    await releaseWorktree(place, worktree.id)?.settled;
    const other = await createWorktree(place, { name: 'fix', owner: null });
    await expect(resumeWorktree(place, worktree.id)).rejects.toMatchObject({ code: 'worktree_taken' });
    await releaseWorktree(place, other.worktree.id)?.settled;
    expect((await resumeWorktree(place, worktree.id)).how).toBe('restored');
  });
});
