import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LED_ENTRIES, LED_REGISTRATIONS, type LedPlace } from '../../../test/fixtures/led-checkouts.ts';
import { writeFiles } from '../../../test/fixtures/temporary.ts';
import { checkoutBytes, git, OWNER, worktreePlace } from '../../../test/fixtures/worktrees.ts';
import { trust } from '../../system/trust.ts';
import { checkpoint, checkpointRef } from './changes/checkpoint.ts';
import { heldWork } from './changes/held-files.ts';
import { createWorktree } from './create-worktree.ts';
import { resumeWorktree } from './resume-worktree.ts';
import { takeRepairs, trustedGit } from './trusted-git.ts';
import type { ManagedWorktree } from './worktree.ts';
import { adminDirectory, type WorktreePlace } from './worktree-place.ts';

interface Tried extends LedPlace {
  place: WorktreePlace;
  worktree: ManagedWorktree;
}

async function worktreeOf(): Promise<Tried> {
  const place = worktreePlace();
  const { root } = place.repository;
  const { worktree } = await createWorktree(place, { name: 'fix', owner: OWNER });
  const other = await createWorktree(place, { name: 'other', owner: null });
  const { path, branch } = worktree;
  // What must not be lost: something staged, and a log.
  writeFiles(root, { 'staged.txt': 's\n' });
  git(root, 'add', 'staged.txt');
  const admins = { admin: adminDirectory(place, worktree), other: adminDirectory(place, other.worktree) };
  return { place, worktree, path, branch, root, ...admins };
}

const LED = Object.entries({ ...LED_ENTRIES, ...LED_REGISTRATIONS });

describe('WORK-7: git in the files of an agent', () => {
  test('never goes where the agent has led it: what leads elsewhere is put right, said, and its work is kept', async () => {
    const tried = await worktreeOf();
    const { place, worktree, path, root } = tried;
    const before = checkoutBytes(root);
    for (const [what, lead] of LED) {
      writeFiles(path, { 'work.txt': `${what}\n` });
      lead(tried);
      const { ref } = await checkpoint(place, worktree);
      expect(git(root, 'show', `${ref}:work.txt`), what).toBe(what);
      expect(git(root, 'ls-tree', '-r', '--name-only', ref).split('\n').length, what).toBe(6);
      expect(
        (await heldWork(place, worktree)).map(({ kind }) => kind),
        what,
      ).toEqual(['untracked']);
      expect(checkoutBytes(root), what).toEqual(before);
      expect(takeRepairs(worktree).join('\n'), what).toMatch(/; put right$/);
      expect(git(path, 'rev-parse', '--symbolic-full-name', 'HEAD'), what).toBe('refs/heads/ramet/fix');
      expect(git(path, 'status', '--porcelain'), what).toBe('?? work.txt');
    }
    await checkpoint(place, worktree);
    expect(takeRepairs(worktree)).toEqual([]);
  });

  test('a repository in the place of .git is kept apart', async () => {
    const tried = await worktreeOf();
    LED_ENTRIES['a new repository']?.(tried);
    await trustedGit(tried.place, tried.worktree);
    const kept = join(tried.place.home, 'kept');
    const [name = ''] = readdirSync(kept);
    expect(existsSync(join(kept, name, 'git', 'HEAD'))).toBe(true);
    expect(takeRepairs(tried.worktree)).toEqual([
      `.git in fix was a repository of its own, which is in ${join(kept, name)} now; put right`,
    ]);
  });

  test('writes no object where a link leads', async () => {
    const { place, worktree, path, root } = await worktreeOf();
    const objects = join(place.repository.commonDirectory, 'objects');
    const target = join(root, 'x');
    mkdirSync(target);
    for (let number = 0; number < 256; number += 1) {
      const folder = join(objects, number.toString(16).padStart(2, '0'));
      if (!existsSync(folder)) symlinkSync(target, folder);
    }
    writeFiles(path, { 'work.txt': 'w\n', 'more.txt': 'm\n' });
    const { ref } = await checkpoint(place, worktree);
    expect(readdirSync(target)).toEqual([]);
    expect(git(root, 'show', `${ref}:work.txt`)).toBe('w');
    expect(takeRepairs(worktree)[0]).toMatch(/objects\/[0-9a-f]{2} was a link to .*\/x; put right$/);
  });

  test('moves no branch that the ref of a checkpoint leads to', async () => {
    const { place, worktree, path, root } = await worktreeOf();
    const before = checkoutBytes(root);
    const ref = checkpointRef(worktree);
    writeFiles(place.repository.commonDirectory, { [ref]: 'ref: refs/heads/main\n' });
    writeFiles(path, { 'work.txt': 'w\n' });
    await checkpoint(place, worktree);
    expect(checkoutBytes(root)).toEqual(before);
    expect(git(root, 'show', `${ref}:work.txt`)).toBe('w');
  });

  test('an agent that is resumed without .git is where it was', async () => {
    const tried = await worktreeOf();
    LED_ENTRIES.nothing?.(tried);
    const { worktree } = await resumeWorktree(tried.place, tried.worktree.id);
    expect(git(worktree.path, 'rev-parse', '--show-toplevel')).toBe(worktree.path);
  });

  test('what it names in config.worktree does not run, also where the user trusts the repository', async () => {
    const tried = await worktreeOf();
    const { place, worktree, root, admin, path } = tried;
    trust({ home: place.home, root });
    git(root, 'config', 'extensions.worktreeConfig', 'true');
    const mark = join(place.home, 'mark');
    const evil = `touch ${mark}; cat`;
    appendFileSync(
      join(admin, 'config.worktree'),
      `[core]\n\tfsmonitor = ${evil}\n\thooksPath = ${path}\n[filter "x"]\n\tclean = ${evil}\n\tsmudge = ${evil}\n`,
    );
    mkdirSync(join(admin, 'info'), { recursive: true });
    writeFileSync(join(admin, 'info', 'attributes'), '* filter=x\n');
    writeFiles(path, { '.gitattributes': '* filter=x\n', 'work.txt': 'w\n' });
    const place2 = { ...place, env: { ...place.env, RAMET_HOME: place.home } };
    await checkpoint(place2, worktree).catch(() => null);
    await heldWork(place2, worktree);
    expect(lstatSync(mark, { throwIfNoEntry: false })).toBe(undefined);
  });
});
