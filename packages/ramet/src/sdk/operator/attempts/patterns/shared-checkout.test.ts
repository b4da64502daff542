import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import {
  type AttemptRepository,
  attemptRepository,
  ENDED,
  naming,
  SESSION,
} from '../../../../../test/fixtures/attempts.ts';
import {
  LED_ENTRIES,
  LED_REGISTRATIONS,
  SPOILED_REGISTRATIONS,
} from '../../../../../test/fixtures/led-checkouts.ts';
import { writeFiles } from '../../../../../test/fixtures/temporary.ts';
import { checkoutBytes, git } from '../../../../../test/fixtures/worktrees.ts';
import { adminDirectory } from '../../../../git/managed-worktrees.ts';
import { createWorktree } from '../../../../git/worktrees/create-worktree.ts';
import type { AttemptOrder } from '../../../../operator/run/ports.ts';
import { findWorktree } from '../../../worktrees/open-place.ts';
import type { AttemptPattern } from './attempt-pattern.ts';
import { partitionPattern, plainSharedPattern } from './partition.ts';
import { SharedCheckout } from './shared-checkout.ts';

interface Tried extends AttemptRepository {
  checkout: SharedCheckout;
  none: AttemptPattern;
  partition: AttemptPattern;
}

function shared(repository = attemptRepository()): Tried {
  const { worktrees, workspaces, root } = repository;
  const checkout = new SharedCheckout({ worktrees, workspaces, cwd: root, session: SESSION, run: SESSION });
  const place = {
    checkout,
    session: SESSION,
    refusedWrite: () => null,
    witness: naming('ramet/made', 'made'),
  };
  return { ...repository, checkout, none: plainSharedPattern(place), partition: partitionPattern(place) };
}

async function begin(pattern: AttemptPattern, order: AttemptOrder): Promise<string> {
  pattern.expect?.(order);
  const { workspace } = await pattern.prepare(order, () => {});
  return workspace?.worktree.path ?? '';
}

const end = (pattern: AttemptPattern, order: AttemptOrder): ReturnType<AttemptPattern['collect']> =>
  pattern.collect(order, ENDED, async () => ENDED);

describe('OP-9: tasks in one checkout', { timeout: 240_000 }, () => {
  test('partition: each gets its own files; what no task declares is refused, kept on a ref and taken back', async () => {
    const { partition, order, root, base } = shared();
    const [a, b, c] = [order('a', ['a.txt']), order('b', ['b.txt']), order('c', ['c.txt'])];
    const path = await begin(partition, a);
    expect(await begin(partition, b)).toBe(path);
    writeFiles(path, { 'a.txt': 'a\n', 'b.txt': 'b\n' });
    expect(await end(partition, a)).toMatchObject({
      files: ['a.txt'],
      branch: 'refs/ramet/attempts/abcdefgh/a-1',
    });
    expect(await end(partition, b)).toMatchObject({ files: ['b.txt'] });
    await begin(partition, c);
    writeFiles(path, { 'c.txt': 'c\n', 'README.md': 'stray\n' });
    expect(await end(partition, c)).toMatchObject({
      cause: 'outside_files',
      message: expect.stringMatching(/^README\.md changed while it ran/),
    });
    expect(git(root, 'diff', '--name-only', base, 'refs/ramet/attempts/abcdefgh/c-1')).toBe(
      'README.md\nc.txt',
    );
    expect([existsSync(join(path, 'c.txt')), readFileSync(join(path, 'README.md'), 'utf8')]).toEqual([
      false,
      '# Test\n',
    ]);
  });

  test('none: the files are brought to the next base, without a branch of the user, whatever HEAD says', async () => {
    const { none, order, root, worktrees, base } = shared();
    const before = checkoutBytes(root);
    const a = order('a');
    const path = await begin(none, a);
    const worktree = findWorktree(worktrees, path);
    writeFiles(path, { 'a.txt': 'a\n' });
    writeFileSync(join(adminDirectory(worktrees, worktree), 'HEAD'), 'ref: refs/heads/feature\n');
    const work = await end(none, a);
    const commit = work !== null && 'commit' in work ? work.commit : '';
    expect(git(root, 'diff', '--name-only', base, commit)).toBe('a.txt');
    await begin(none, order('b', [], commit));
    expect(git(path, 'symbolic-ref', 'HEAD')).toBe(`refs/heads/ramet/operate-${SESSION}`);
    expect(git(path, 'rev-parse', 'HEAD')).toBe(commit);
    expect(git(path, 'status', '--porcelain')).toBe('');
    expect(checkoutBytes(root)).toEqual(before);
  });

  test('commits that an agent left beside its files are kept and told once; those that the files have are its work', async () => {
    const { none, order, root } = shared();
    for (const [name, ...args] of [
      ['foo', '-c', 'ramet/foo'],
      ['loose', '--detach'],
    ] as const) {
      const task = order(name);
      const path = await begin(none, task);
      git(path, 'switch', '--quiet', ...args);
      writeFiles(path, { [`${name}.txt`]: 'left\n' });
      git(path, 'add', '--all');
      git(path, 'commit', '--quiet', '--message=left');
      const commit = git(path, 'rev-parse', 'HEAD');
      git(path, 'switch', '--quiet', '--detach', 'HEAD^');
      expect(await end(none, task)).toMatchObject({
        ...{ cause: 'diverged_work', message: expect.stringContaining(commit) },
      });
      expect(git(root, 'rev-parse', `refs/ramet/attempts/left/${commit}`)).toBe(commit);
    }
    const task = order('merged');
    const path = await begin(none, task);
    git(path, 'switch', '--quiet', '-c', 'ramet/side');
    writeFiles(path, { 'own.txt': 'own\n' });
    git(path, 'add', '--all');
    git(path, 'commit', '--quiet', '--message=own');
    git(path, 'switch', '--quiet', '--detach', 'HEAD^');
    git(path, 'merge', '--quiet', 'ramet/side');
    expect(await end(none, task)).toMatchObject({ files: ['own.txt'] });
  });

  test('commits of a branch that it deleted are named', async () => {
    const { none, order } = shared();
    const task = order('a');
    const path = await begin(none, task);
    git(path, 'switch', '--quiet', '--create', 'ramet/gone');
    writeFiles(path, { 'a.txt': 'a\n' });
    git(path, 'add', '--all');
    git(path, 'commit', '--quiet', '--message=a');
    const commit = git(path, 'rev-parse', 'HEAD');
    git(path, 'switch', '--quiet', '--detach', 'HEAD~1');
    git(path, 'branch', '--quiet', '-D', 'ramet/gone');
    expect(await end(none, task)).toBe(null);
    expect(none.notes?.(task, ENDED)).toEqual([
      `it deleted ramet/gone with commit ${commit}, which was not taken`,
    ]);
  });

  test.each([
    ['on no branch', ['--detach']],
    ['on no branch, at a commit of its own', ['--detach'], true],
    ['on a branch of its own', ['--create', 'ramet/its-own'], true],
  ])('a task that leaves HEAD %s hands it on to nobody', async (_, args, commits = false) => {
    const tried = shared();
    const { none, order, root, base } = tried;
    const task = order('a');
    const path = await begin(none, task);
    git(path, 'switch', '--quiet', ...args);
    writeFiles(path, { 'a.txt': 'a\n' });
    if (commits) {
      git(path, 'add', '--all');
      git(path, 'commit', '--quiet', '--message=a');
    }
    expect(await end(none, task)).toMatchObject({ files: ['a.txt'] });
    const next = order('b');
    expect(await begin(none, next)).toBe(path);
    expect(git(path, 'symbolic-ref', 'HEAD')).toBe(`refs/heads/ramet/operate-${SESSION}`);
    expect(git(path, 'rev-parse', 'HEAD')).toBe(base);
    // As an agent keeps a try apart, and then picks it.
    git(path, 'switch', '--quiet', '--create', 'ramet/try');
    writeFiles(path, { 'b.txt': 'b\n' });
    git(path, 'add', 'b.txt');
    git(path, 'commit', '--quiet', '--message=b');
    git(path, 'switch', '--quiet', '-');
    git(path, 'cherry-pick', 'ramet/try');
    expect(await end(none, next)).toMatchObject({ files: ['b.txt'] });
    await tried.checkout.close();
    await vi.waitFor(() => expect(git(root, 'branch', '--list', 'ramet/operate-*')).toBe(''));
  });

  test.each([
    ['a branch, after a reset', ['branch', 'ramet/kept'], true],
    ['a tag, after a reset', ['tag', 'kept'], true],
    ['a branch that it never was on', ['branch', 'ramet/made'], false],
    ['a tag that it never was on', ['tag', 'made'], false],
  ])(
    'commits that an agent put on %s are kept and told, and are not of the next task',
    async (_, args, isReset) => {
      const { none, order, root } = shared();
      const task = order('a');
      const path = await begin(none, task);
      writeFiles(path, { 'left.txt': 'left\n' });
      git(path, 'add', '--all');
      if (isReset) git(path, 'commit', '--quiet', '--message=left');
      const commit = isReset
        ? git(path, 'rev-parse', 'HEAD')
        : git(path, 'commit-tree', '-p', 'HEAD', '-m', 'left', git(path, 'write-tree'));
      git(path, ...args, commit);
      git(path, 'reset', '--quiet', '--hard', isReset ? 'HEAD~1' : 'HEAD');
      expect(await end(none, task)).toMatchObject({
        ...{ cause: 'diverged_work', message: expect.stringContaining(commit) },
      });
      expect(git(root, 'rev-parse', `refs/ramet/attempts/left/${commit}`)).toBe(commit);
      const next = order('b');
      writeFiles(await begin(none, next), { 'next.txt': 'next\n' });
      expect(await end(none, next)).toMatchObject({ files: ['next.txt'] });
    },
  );

  test('whatever a task made of .git and of the registration, its work is taken, it is told, and the user has all as it was', async () => {
    const { none, order, root, worktrees, base, checkout } = shared();
    const other = await createWorktree(worktrees, { name: 'other', owner: null });
    const before = checkoutBytes(root);
    const led = Object.entries({ ...LED_ENTRIES, ...LED_REGISTRATIONS, ...SPOILED_REGISTRATIONS });
    for (const [at, [what, lead]] of led.entries()) {
      const task = order(`t${at}`);
      const path = await begin(none, task);
      const worktree = findWorktree(worktrees, path);
      writeFiles(path, { 'work.txt': `${what}\n` });
      const admins = {
        admin: adminDirectory(worktrees, worktree),
        other: adminDirectory(worktrees, other.worktree),
      };
      lead({ path, root, branch: worktree.branch, ...admins });
      const work = await end(none, task);
      expect(work, what).toMatchObject({ files: ['work.txt'] });
      const commit = work !== null && 'commit' in work ? work.commit : '';
      expect(git(root, 'rev-parse', `${commit}^`), what).toBe(base);
      expect(none.notes?.(task, ENDED).join(), what).toContain('; put right');
      expect(checkoutBytes(root), what).toEqual(before);
    }
    await checkout.close();
    expect(checkoutBytes(root)).toEqual(before);
  });

  test('one that a killed process left goes at the end of the resumed run, also with files of tasks that have ended', async () => {
    const first = shared();
    const a = first.order('a', ['a.txt']);
    const path = await begin(first.partition, a);
    writeFiles(path, { 'a.txt': 'a\n' });
    await end(first.partition, a);
    const { worktrees, workspaces, root } = first;
    const row = findWorktree(worktrees, path);
    worktrees.registry.change(row.id, ['leased'], { lease: { pid: 2 ** 30, started: '1' } });
    // All tasks are done when the run is resumed: none of them enters it again.
    const place = { worktrees, workspaces, cwd: root, session: SESSION, run: SESSION };
    await new SharedCheckout(place).close();
    await vi.waitFor(() => expect(git(root, 'branch', '--list', 'ramet/operate-*')).toBe(''));
    expect(existsSync(path)).toBe(false);
  });

  test('one that a killed process left stays while a task is at work in it that is not resumed', async () => {
    const first = shared();
    const path = await begin(first.partition, first.order('a', ['a.txt']));
    writeFiles(path, { 'a.txt': 'a\n' });
    const { worktrees, workspaces, root } = first;
    const row = findWorktree(worktrees, path);
    worktrees.registry.change(row.id, ['leased'], { lease: { pid: 2 ** 30, started: '1' } });
    const place = { worktrees, workspaces, cwd: root, session: SESSION, run: SESSION };
    for (const isDone of [false, true]) {
      await new SharedCheckout(place).close(isDone);
      expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('a\n');
      worktrees.registry.change(row.id, ['leased'], { lease: { pid: 2 ** 30, started: '1' } });
    }
    // It had changed nothing, and another try has done its task.
    rmSync(join(path, 'a.txt'));
    git(path, 'checkout', '--', '.');
    await new SharedCheckout(place).close(true);
    await vi.waitFor(() => expect(git(root, 'branch', '--list', 'ramet/operate-*')).toBe(''));
    expect(existsSync(path)).toBe(false);
  });

  test('another process continues with the note that no agent can write, also where .git is gone', async () => {
    const first = shared();
    const a = first.order('a', ['a.txt']);
    const path = await begin(first.partition, a);
    writeFiles(path, { 'a.txt': 'a\n' });
    rmSync(join(path, '.git'));
    const second = shared(first);
    second.partition.expect?.(a);
    expect(await end(second.partition, a)).toMatchObject({ files: ['a.txt'] });
    expect(second.partition.notes?.(a, ENDED).join()).toContain(
      '.git in operate-abcdefgh was gone; put right',
    );
  });

  test.each([
    ['left there', false],
    ['staged', true],
  ])('a repository that a task makes inside, %s, is refused, and kept', async (_, isStaged) => {
    const { none, order, worktrees } = shared();
    const a = order('a');
    const path = await begin(none, a);
    writeFiles(path, { 'a.txt': 'a\n', 'inner/f.txt': 'f\n' });
    git(join(path, 'inner'), 'init', '--quiet', '.');
    git(join(path, 'inner'), 'add', '--all');
    git(join(path, 'inner'), 'commit', '--quiet', '--message=inner');
    if (isStaged) git(path, '-c', 'advice.addEmbeddedRepo=false', 'add', 'inner');
    const refused = await end(none, a);
    expect(refused).toMatchObject({
      cause: 'nested_repository',
      message: expect.stringMatching(/^inner is a repository/),
    });
    const folder =
      refused !== null && 'message' in refused ? / Moved to (.*)\.$/.exec(refused.message ?? '')?.[1] : '';
    expect(folder).toContain(join(worktrees.home, 'kept'));
    expect(readFileSync(join(folder ?? '', 'inner/f.txt'), 'utf8')).toBe('f\n');
    const b = order('b');
    await begin(none, b);
    writeFiles(path, { 'b.txt': 'b\n' });
    expect(await end(none, b)).toMatchObject({ files: ['b.txt'] });
  });
});
