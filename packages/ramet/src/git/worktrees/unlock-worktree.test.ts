import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { git, gitVariables, OWNER, worktreePlace } from '../../../test/fixtures/worktrees.ts';
import { removeLeftLocks } from '../left-locks.ts';
import { checkpoint } from './changes/checkpoint.ts';
import { createWorktree } from './create-worktree.ts';
import { resumeWorktree } from './resume-worktree.ts';
import { adminDirectory } from './worktree-place.ts';

describe('WORK-8: a worktree whose removal was cut short', () => {
  test('is restored as the only checkout of its branch', async () => {
    const place = worktreePlace();
    const { worktree } = await createWorktree(place, { name: 'fix', owner: OWNER });
    rmSync(worktree.path, { recursive: true });
    place.registry.change(worktree.id, ['leased'], { state: 'gone', lease: null });
    await resumeWorktree(place, worktree.id);
    const listed = git(worktree.path, 'worktree', 'list', '--porcelain');
    expect(listed.match(/^branch refs\/heads\/ramet\/fix$/gm)).toHaveLength(1);
  });
});

describe('WORK-8: the worktree of an agent that was killed with its git', () => {
  test('can be used again: what that git had locked is free', async () => {
    const place = worktreePlace();
    const { worktree } = await createWorktree(place, { name: 'fix', owner: OWNER });
    const admin = adminDirectory(place, worktree);
    const ref = `refs/ramet/wip/${OWNER.agent}`;
    mkdirSync(join(place.repository.commonDirectory, 'refs/ramet/wip'), { recursive: true });
    mkdirSync(join(admin, 'ramet-index-Ab12'));
    const locks = [
      ...['index.lock', 'HEAD.lock', 'ramet-index-Ab12/index.lock'].map((name) => join(admin, name)),
      ...['refs/heads/ramet/fix', ref].map((name) => join(place.repository.commonDirectory, `${name}.lock`)),
    ];
    for (const path of locks) writeFileSync(path, '');
    await resumeWorktree(place, worktree.id);
    expect(locks.filter((path) => existsSync(path))).toEqual([]);
    writeFileSync(join(worktree.path, 'new.txt'), 'new\n');
    git(worktree.path, 'add', '--all');
    git(worktree.path, 'commit', '--quiet', '--message=works again');
    // Its checkpoints do not wait for a resume.
    writeFileSync(join(worktree.path, 'more.txt'), 'more\n');
    const left = [join(place.repository.commonDirectory, `${ref}.lock`), join(admin, 'index.lock')];
    for (const path of left) writeFileSync(path, '');
    expect(await checkpoint(place, worktree)).toMatchObject({ isNew: true });
    // Nor does its agent: it may not remove what is outside its worktree.
    expect(left.filter((path) => existsSync(path))).toEqual([]);
  });

  test('is freed while programs of its agent run there: only a git may hold a lock', async () => {
    const place = worktreePlace();
    const { worktree } = await createWorktree(place, { name: 'fix', owner: OWNER });
    const program = spawn('cat', { cwd: worktree.path, stdio: ['pipe', 'ignore', 'ignore'] });
    onTestFinished(() => void program.kill());
    await once(program, 'spawn');
    const lock = join(adminDirectory(place, worktree), 'index.lock');
    writeFileSync(lock, '');
    await checkpoint(place, worktree);
    expect(existsSync(lock)).toBe(false);
  });

  test('stays locked while a git lives there', async () => {
    const place = worktreePlace();
    const { worktree } = await createWorktree(place, { name: 'fix', owner: OWNER });
    writeFileSync(join(worktree.path, 'README.md'), 'changed\n');
    const index = join(adminDirectory(place, worktree), 'index');
    // Its message is being written: until then it has the index locked.
    const env = { ...gitVariables(), GIT_EDITOR: 'echo >&2; read -r line; echo "$line" >' };
    const commit = spawn('git', ['commit', '--all'], { cwd: worktree.path, env });
    onTestFinished(() => void commit.kill());
    const ended = once(commit, 'exit');
    await once(commit.stderr, 'data');
    await removeLeftLocks([index], worktree.path, 400);
    expect(existsSync(`${index}.lock`)).toBe(true);
    commit.stdin.write('its message\n');
    expect(await ended).toEqual([0, null]);
    expect(git(worktree.path, 'log', '-1', '--format=%s')).toBe('its message');
  });
});
