import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { git, OWNER, worktreePlace } from '../../../../test/fixtures/worktrees.ts';
import { createWorktree } from '../create-worktree.ts';
import { collectGarbage } from '../removal/collect-garbage.ts';
import type { WorktreePlace } from '../worktree-place.ts';
import { stockPool } from './stock-pool.ts';

function states({ registry }: WorktreePlace): string[] {
  return registry.list().map(({ state }) => state);
}

async function stock(place: WorktreePlace, count: number, base: string): Promise<number> {
  let made = 0;
  while (await stockPool(place, { count, base })) made += 1;
  return made;
}

function nextCommit(root: string): string {
  writeFileSync(join(root, 'next.txt'), 'next\n');
  git(root, 'add', 'next.txt');
  git(root, 'commit', '--quiet', '--message=next');
  return git(root, 'rev-parse', 'HEAD');
}

describe('WORK-4: worktrees that are made before they are wanted', () => {
  test('are ready for the next agents, follow the commit, and come with nothing else', async () => {
    const place = worktreePlace();
    const { root } = place.repository;
    const first = git(root, 'rev-parse', 'HEAD');
    expect(await stock(place, 2, first)).toBe(2);
    expect(states(place)).toEqual(['ready', 'ready']);
    const second = nextCommit(root);
    expect(await stock(place, 2, second)).toBe(2);
    const { worktree, how, proof } = await createWorktree(place, { name: 'a', owner: OWNER, base: second });
    expect([how, proof.head, proof.ref]).toEqual(['claimed', second, 'refs/heads/ramet/a']);
    expect(readFileSync(join(worktree.path, 'next.txt'), 'utf8')).toBe('next\n');
    expect(git(worktree.path, 'status', '--porcelain', '--ignored')).toBe('');
    const back = await createWorktree(place, { name: 'b', owner: OWNER, base: first });
    expect(back.how).toBe('moved');
    expect(existsSync(join(back.worktree.path, 'next.txt'))).toBe(false);
  });

  test('are as few as the settings say', async () => {
    const none = worktreePlace({ settings: { pool: 0 } });
    expect(await stock(none, 3, git(none.repository.root, 'rev-parse', 'HEAD'))).toBe(0);
    const small = worktreePlace({ settings: { poolMegabytes: 0 } });
    expect(await stock(small, 3, git(small.repository.root, 'rev-parse', 'HEAD'))).toBe(0);
    const sparse = worktreePlace({ settings: { sparsePaths: ['src'] } });
    expect(await stock(sparse, 3, git(sparse.repository.root, 'rev-parse', 'HEAD'))).toBe(0);
  });

  test('leave nothing behind if one cannot be made, or was changed in the pool', async () => {
    const place = worktreePlace();
    const { root } = place.repository;
    expect(await stock(place, 1, '1'.repeat(40))).toBe(0);
    expect(states(place)).toEqual([]);
    expect(git(root, 'worktree', 'list').split('\n')).toHaveLength(1);
    const first = git(root, 'rev-parse', 'HEAD');
    expect(await stock(place, 1, first)).toBe(1);
    writeFileSync(join(place.registry.list()[0]?.path ?? '', '.git'), 'gitdir: /elsewhere\n');
    expect(await stockPool(place, { count: 1, base: nextCommit(root) })).toBe(false);
    expect(states(place)).toEqual([]);
  });

  test('are undone after a kill, half-made or without any files', async () => {
    const place = worktreePlace();
    const { registry, repository } = place;
    const base = git(repository.root, 'rev-parse', 'HEAD');
    expect(await stock(place, 1, base)).toBe(1);
    const [row] = registry.list();
    if (row === undefined) throw new Error('nothing was made');
    const dead = { state: 'resetting', lease: { pid: 2 ** 22 + 1, started: null } } as const;
    registry.put({ ...row, ...dead });
    registry.put({ ...row, ...dead, id: 'zzzzzzzz', admin: 'ramet-zzzzzzzz', path: `${row.path}z` });
    await collectGarbage(place);
    expect(states(place)).toEqual([]);
    expect(existsSync(row.path)).toBe(false);
    expect(git(repository.root, 'worktree', 'list').split('\n')).toHaveLength(1);
  });
});
