import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeFiles } from '../../../test/fixtures/temporary.ts';
import { git, OWNER, worktreePlace } from '../../../test/fixtures/worktrees.ts';
import { createWorktree } from '../../git/worktrees/create-worktree.ts';
import { branchText, viewOf } from '../../views/worktree-view.ts';
import { commitFiles } from './commit-worktree.ts';

/** One whose agent has ended, with a new file in it. */
async function left() {
  const place = worktreePlace();
  const { worktree } = await createWorktree(place, { name: 'q', owner: OWNER });
  const released = place.registry.change(worktree.id, ['leased'], { state: 'released', lease: null });
  if (released === null) throw new Error('it was not leased');
  writeFiles(worktree.path, { n: 'q\n' });
  const { root } = place.repository;
  // Its session is not part of this.
  return {
    place,
    worktree: { ...released, owner: null },
    root,
    main: git(root, 'symbolic-ref', '--short', 'HEAD'),
  };
}

describe('WORK-3: ramet worktree commit moves only the branch of the worktree', () => {
  test('on another branch it refuses in one line, and the way it names works, also over changes of its own branch', async () => {
    const { place, worktree, root, main } = await left();
    const before = git(root, 'rev-parse', main);
    writeFiles(worktree.path, { 'README.md': 'committed\n' });
    git(worktree.path, '-c', 'user.name=T', '-c', 'user.email=t@x', 'commit', '-qam', 'own work');
    git(worktree.path, 'checkout', '-q', '--ignore-other-worktrees', main);
    // `git switch ramet/q` would refuse to write over it.
    writeFiles(worktree.path, { 'README.md': 'not committed\n' });
    expect(branchText(await viewOf(place, worktree))).toBe(`on ${main}, not ramet/q`);
    await expect(commitFiles(place, worktree, undefined)).rejects.toThrow(
      `the worktree q is on ${main}, not ramet/q, so nothing was committed: run git -C ${worktree.path} switch --detach, which leaves its files as they are, then ramet worktree commit q, and merge the commit that it names`,
    );
    git(root, '-C', worktree.path, 'switch', '--detach');
    const { commit, branch, files } = await commitFiles(place, worktree, undefined);
    expect({ branch, files }).toEqual({ branch: null, files: 2 });
    expect(git(root, 'show', `${commit}:README.md`)).toBe('not committed');
    expect(git(root, 'rev-parse', main)).toBe(before);
  });

  test.each([
    ['a file', (git: string, to: string) => writeFileSync(git, `gitdir: ${to}\n`)],
    ['a link', (git: string, to: string) => symlinkSync(to, git)],
  ])('%s that leads to the repository of the user in place of its .git is put right', async (_, lead) => {
    const { place, worktree, root, main } = await left();
    const before = git(root, 'rev-parse', main);
    writeFiles(root, { staged: 's\n' });
    git(root, 'add', 'staged');
    rmSync(join(worktree.path, '.git'));
    lead(join(worktree.path, '.git'), join(root, '.git'));
    const { commit } = await commitFiles(place, worktree, undefined);
    expect(git(root, 'show', `${commit}:n`)).toBe('q');
    expect(git(root, 'rev-parse', main, 'ramet/q').split('\n')).toEqual([before, commit]);
    expect(git(root, 'diff', '--cached', '--name-only')).toBe('staged');
  });

  test('where a repository was put in place of its .git, git is not used', async () => {
    const { place, worktree } = await left();
    rmSync(join(worktree.path, '.git'));
    git(worktree.path, 'init', '--quiet', '.');
    await expect(commitFiles(place, worktree, undefined)).rejects.toThrow('has a repository of its own');
  });

  test('what a killed git has locked there is no obstacle', async () => {
    const { place, worktree, root } = await left();
    const lock = join(git(worktree.path, 'rev-parse', '--path-format=absolute', '--git-dir'), 'index.lock');
    writeFileSync(lock, '');
    const { commit } = await commitFiles(place, worktree, undefined);
    expect(git(root, 'show', `${commit}:n`)).toBe('q');
  });

  test('a branch of its name that only leads to another counts as that other', async () => {
    const { place, worktree, root, main } = await left();
    const before = git(root, 'rev-parse', main);
    git(root, 'symbolic-ref', 'refs/heads/ramet/q', `refs/heads/${main}`);
    await expect(commitFiles(place, worktree, undefined)).rejects.toThrow(`is on ${main}, not ramet/q`);
    expect(git(root, 'rev-parse', main)).toBe(before);
  });

  test('without a branch it commits, and claims none', async () => {
    const { place, worktree, root } = await left();
    git(worktree.path, 'checkout', '-q', '--detach');
    const { commit, branch } = await commitFiles(place, worktree, undefined);
    expect(branch).toBeNull();
    expect(git(root, 'rev-parse', 'ramet/q')).toBe(worktree.base);
    expect(await viewOf(place, worktree)).toMatchObject({
      head: commit,
      holds: [`1 commit without a branch, at ${commit.slice(0, 12)}`],
    });
  });
});
