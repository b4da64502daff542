import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { temporaryDirectory, writeFiles } from '../../../../test/fixtures/temporary.ts';
import { git, OWNER, worktreePlace } from '../../../../test/fixtures/worktrees.ts';
import { createWorktree } from '../create-worktree.ts';
import { adminDirectory } from '../worktree-place.ts';
import { checkpoint } from './checkpoint.ts';

/** A git that notes what it was asked for. */
function countingGit(): { PATH: string; GIT_COUNT: string } {
  const folder = temporaryDirectory();
  const file = join(folder, 'git');
  const script = `#!/bin/sh
for word; do case $skip$word in -c) skip=1;; 1*) skip=;; -*) ;; *) echo "$word" >> "$GIT_COUNT"; break;; esac; done
PATH=\${PATH#*:} exec git "$@"
`;
  writeFileSync(file, script);
  chmodSync(file, 0o755);
  return { PATH: `${folder}:${process.env.PATH}`, GIT_COUNT: join(folder, 'count') };
}

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

  test('keeps what was staged since the last one, and asks git once about an index that stays the same', async () => {
    const place = worktreePlace();
    const { worktree } = await createWorktree(place, { name: 'fix', owner: OWNER });
    const { path } = worktree;
    const index = join(adminDirectory(place, worktree), 'index');
    const counted = { ...place, env: { ...place.env, ...countingGit() } };
    const asked = (): string[] =>
      readFileSync(counted.env.GIT_COUNT ?? '', 'utf8')
        .split('\n')
        .filter(Boolean);
    // Two changes of one moment could not be told apart.
    const settled = () => vi.waitFor(() => expect(Date.now() - statSync(index).ctimeMs).toBeGreaterThan(60));
    await settled();
    writeFiles(path, { 'new.txt': '1\n' });
    const { ref } = await checkpoint(counted, worktree);
    expect(asked()).toEqual(['write-tree', 'add', 'write-tree', 'rev-parse', 'commit-tree', 'update-ref']);
    writeFiles(path, { 'new.txt': '2\n' });
    await checkpoint(counted, worktree);
    expect(asked().slice(6)).toEqual(['add', 'write-tree', 'commit-tree', 'update-ref']);
    git(path, 'add', 'new.txt');
    writeFiles(path, { 'new.txt': '3\n' });
    await settled();
    await checkpoint(counted, worktree);
    expect([git(path, 'show', `${ref}:new.txt`), git(path, 'show', `${ref}^2:new.txt`)]).toEqual(['3', '2']);
  });

  test('sees a file that changed in the second in which it was added, and kept its size', async () => {
    const place = worktreePlace();
    const { worktree } = await createWorktree(place, { name: 'fix', owner: OWNER });
    const { path } = worktree;
    const second = (): number => Math.floor(Date.now() / 1_000);
    let began = second();
    do {
      began = second();
      writeFiles(path, { 'new.txt': '1\n' });
      git(path, 'add', 'new.txt');
      writeFiles(path, { 'new.txt': '2\n' });
    } while (second() !== began);
    await vi.waitFor(() => expect(second()).toBeGreaterThan(began), { timeout: 5_000 });
    const { ref } = await checkpoint(place, worktree);
    expect(git(path, 'show', `${ref}:new.txt`)).toBe('2');
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
