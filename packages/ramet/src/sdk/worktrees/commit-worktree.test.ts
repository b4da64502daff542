import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dyingGit } from '../../../test/fixtures/dying-git.ts';
import { LED_ENTRIES, LED_REGISTRATIONS } from '../../../test/fixtures/led-checkouts.ts';
import { temporaryDirectory, writeFiles } from '../../../test/fixtures/temporary.ts';
import { checkoutBytes, git, OWNER, worktreePlace } from '../../../test/fixtures/worktrees.ts';
import { adminDirectory, takeRepairs } from '../../git/managed-worktrees.ts';
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

test.each(['before', 'after'] as const)(
  'WORK-3: a commit that is cut off %s its branch moves leaves nothing that looks uncommitted when it is done again',
  async (when) => {
    const { place, worktree } = await left();
    const dying = { ...place, env: { ...place.env, ...dyingGit(temporaryDirectory(), 'update-ref', when) } };
    await expect(commitFiles(dying, worktree, undefined)).rejects.toThrow(/SIGKILL/);
    const again = commitFiles(place, worktree, undefined);
    if (when === 'before') await again;
    else await expect(again).rejects.toThrow('q has nothing to commit');
    expect(git(worktree.path, 'status', '--porcelain')).toBe('');
    expect(git(worktree.path, 'show', 'ramet/q:n')).toBe('q');
  },
);

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

  test('whatever its agent made of .git and of its registration: its work is on its branch, and nothing else moves', async () => {
    const { place, worktree, root } = await left();
    const { worktree: second } = await createWorktree(place, { name: 'second', owner: null });
    const { path, branch } = worktree;
    const admins = { admin: adminDirectory(place, worktree), other: adminDirectory(place, second) };
    writeFiles(root, { staged: 's\n' });
    git(root, 'add', 'staged');
    const before = checkoutBytes(root);
    const led = Object.entries({ ...LED_ENTRIES, ...LED_REGISTRATIONS });
    for (const [what, lead] of led) {
      const tip = git(root, 'rev-parse', 'ramet/q');
      writeFiles(path, { n: `${what}\n` });
      lead({ path, branch, root, ...admins });
      const { commit, repaired } = await commitFiles(place, worktree, what);
      expect(git(root, 'show', `${commit}:n`), what).toBe(what);
      // Where the branch itself was destroyed, only its log says where it was.
      expect([tip, worktree.base], what).toContain(git(root, 'rev-parse', `${commit}^`));
      expect(git(root, 'rev-parse', 'ramet/q'), what).toBe(commit);
      expect(checkoutBytes(root), what).toEqual(before);
      expect(repaired.join(), what).toContain('put right');
      takeRepairs(worktree);
    }
  });

  test('what a killed git has locked there is no obstacle', async () => {
    const { place, worktree, root } = await left();
    const lock = join(git(worktree.path, 'rev-parse', '--path-format=absolute', '--git-dir'), 'index.lock');
    writeFileSync(lock, '');
    const { commit } = await commitFiles(place, worktree, undefined);
    expect(git(root, 'show', `${commit}:n`)).toBe('q');
  });

  test('a merge of the commit that it is on is none; another is to be finished first', async () => {
    const { place, worktree, root, main } = await left();
    const admin = adminDirectory(place, worktree);
    const head = git(root, 'rev-parse', 'ramet/q');
    const other = git(root, 'commit-tree', '-p', main, '-m', 'other', `${main}^{tree}`);
    writeFiles(admin, { MERGE_HEAD: `${other}\n`, MERGE_MSG: 'x\n' });
    await expect(commitFiles(place, worktree, undefined)).rejects.toThrow(/^a merge is under way in /);
    writeFiles(admin, { MERGE_HEAD: `${head}\n` });
    const { commit } = await commitFiles(place, worktree, undefined);
    expect(git(root, 'rev-parse', `${commit}^@`)).toBe(head);
    expect(existsSync(join(admin, 'MERGE_HEAD'))).toBe(false);
  });

  test('a branch of its name that only leads to another counts as that other', async () => {
    const { place, worktree, root, main } = await left();
    const before = git(root, 'rev-parse', main);
    git(root, 'symbolic-ref', 'refs/heads/ramet/q', `refs/heads/${main}`);
    await expect(commitFiles(place, worktree, undefined)).rejects.toThrow(`is on ${main}, not ramet/q`);
    expect(git(root, 'rev-parse', main)).toBe(before);
  });

  test('a branch that names no commit is refused with the way to mend it, and a file that cannot be read by its name', async () => {
    const { place, worktree, root } = await left();
    chmodSync(join(worktree.path, 'n'), 0o000);
    // Nobody keeps root from reading it.
    if (process.getuid?.() !== 0)
      await expect(commitFiles(place, worktree, undefined)).rejects.toThrow(/n".*: Permission denied/);
    chmodSync(join(worktree.path, 'n'), 0o600);
    writeFileSync(join(root, '.git/refs/heads/ramet/q'), 'junk\n');
    await expect(commitFiles(place, worktree, undefined)).rejects.toMatchObject({
      code: 'branch_damaged',
      message: expect.stringMatching(/ramet\/q, the branch of q, names no commit.*git update-ref/),
    });
    expect(readFileSync(join(worktree.path, 'n'), 'utf8')).toBe('q\n');
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
