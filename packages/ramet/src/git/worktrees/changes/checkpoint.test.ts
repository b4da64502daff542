import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeFiles } from '../../../../test/fixtures/temporary.ts';
import { git, OWNER, worktreePlace } from '../../../../test/fixtures/worktrees.ts';
import { createWorktree } from '../create-worktree.ts';
import { adminDirectory } from '../worktree-place.ts';
import { checkpoint } from './checkpoint.ts';

describe('WORK-3: a checkpoint', () => {
  test('keeps everything that git does not ignore, and leaves index and branch alone', async () => {
    const place = worktreePlace();
    const { worktree } = await createWorktree(place, { name: 'fix', owner: OWNER });
    const { path, base } = worktree;
    writeFiles(path, {
      'src/a.ts': 'changed\n',
      'new/b.txt': 'new\n',
      '.env': 'SECRET\n',
      'staged.txt': 'first\n',
    });
    git(path, 'add', 'staged.txt');
    writeFiles(path, { 'staged.txt': 'second\n' });
    const index = readFileSync(join(adminDirectory(place, worktree), 'index'));
    const { ref, commit, isNew } = await checkpoint(place, worktree);
    expect({ ref, isNew }).toEqual({ ref: 'refs/ramet/wip/abcdefgh.1', isNew: true });
    expect(git(path, 'diff-tree', '-r', '--name-status', base, commit ?? '')).toBe(
      'A\tnew/b.txt\nM\tsrc/a.ts\nA\tstaged.txt',
    );
    expect(git(path, 'show', `${ref}:staged.txt`)).toBe('second');
    expect(git(path, 'show', `${ref}^2:staged.txt`)).toBe('first');
    expect(readFileSync(join(adminDirectory(place, worktree), 'index'))).toEqual(index);
    expect(git(path, 'rev-parse', 'HEAD')).toBe(base);
    expect(readdirSync(adminDirectory(place, worktree)).filter((name) => name.startsWith('ramet-'))).toEqual(
      [],
    );
  });

  test('is not made again when nothing changed, nor at all when nothing ever did', async () => {
    const place = worktreePlace();
    const { worktree } = await createWorktree(place, { name: 'fix', owner: OWNER });
    expect(await checkpoint(place, worktree)).toMatchObject({ commit: null, isNew: false });
    writeFiles(worktree.path, { 'new.txt': '1\n' });
    const first = await checkpoint(place, worktree);
    expect(await checkpoint(place, worktree)).toEqual({ ...first, isNew: false });
    writeFiles(worktree.path, { 'new.txt': '2\n' });
    await checkpoint(place, worktree);
    git(worktree.path, 'clean', '-fdq');
    await checkpoint(place, worktree);
    expect(git(worktree.path, 'show', `${first.ref}@{1}:new.txt`)).toBe('2');
    expect(git(worktree.path, 'show', `${first.ref}@{2}:new.txt`)).toBe('1');
  });

  test('brings back what a stray reset has destroyed', async () => {
    const place = worktreePlace();
    const { worktree } = await createWorktree(place, { name: 'fix', owner: OWNER });
    writeFiles(worktree.path, { 'src/a.ts': 'an hour of work\n' });
    const { ref } = await checkpoint(place, worktree);
    git(worktree.path, 'reset', '-q', '--hard');
    git(worktree.path, 'checkout', ref, '--', '.');
    expect(readFileSync(join(worktree.path, 'src/a.ts'), 'utf8')).toBe('an hour of work\n');
  });
});
