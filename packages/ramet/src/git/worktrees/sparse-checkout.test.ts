import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, temporaryRepository, writeFiles } from '../../../test/fixtures/temporary.ts';
import { FILES, git, OWNER, worktreePlace } from '../../../test/fixtures/worktrees.ts';
import { createWorktree } from './create-worktree.ts';
import { releaseWorktree } from './removal/release-worktree.ts';

const owner = OWNER;

function filesIn(directory: string): string[] {
  return git(directory, 'ls-files', '-t')
    .split('\n')
    .filter((line) => line.startsWith('H '))
    .map((line) => line.slice(2));
}

describe('WORK-2: a sparse checkout', () => {
  test.each([
    ['cone', ['--cone', 'src/deep']],
    ['patterns', ['--no-cone', '/docs/', '/README.md']],
  ])('gives worktrees the same part of the files as git does, also from the pool: %s', async (_, part) => {
    const root = temporaryRepository(FILES);
    git(root, 'sparse-checkout', 'set', ...part);
    const plain = join(temporaryDirectory(), 'plain');
    git(root, 'worktree', 'add', '-q', '--detach', plain);
    const place = worktreePlace({ root });
    const first = await createWorktree(place, { name: 'first', owner });
    expect(filesIn(first.worktree.path)).toEqual(filesIn(plain));
    expect(existsSync(join(first.worktree.path, 'src/a.ts'))).toBe(existsSync(join(plain, 'src/a.ts')));
    expect(git(first.worktree.path, 'status', '--porcelain')).toBe('');
    expect(git(first.worktree.path, 'config', '--bool', 'core.sparseCheckout')).toBe('true');
    await releaseWorktree(place, first.worktree.id)?.settled;
    const second = await createWorktree(place, { name: 'second', owner });
    expect(second.how).toBe('claimed');
    expect(filesIn(second.worktree.path)).toEqual(filesIn(plain));
    git(root, 'sparse-checkout', 'disable');
    await releaseWorktree(place, second.worktree.id)?.settled;
    const third = await createWorktree(place, { name: 'third', owner });
    expect(filesIn(third.worktree.path)).toEqual(Object.keys(FILES).sort());
  });

  test('that was switched off, or never on, leaves worktrees whole', async () => {
    const root = temporaryRepository(FILES);
    writeFileSync(join(root, '.git/info/sparse-checkout'), '/docs/\n');
    const { worktree } = await createWorktree(worktreePlace({ root }), { name: 'fix', owner });
    expect(filesIn(worktree.path)).toEqual(Object.keys(FILES).sort());
  });
});

describe('WORK-2: .worktreeinclude', () => {
  test('names ignored files that are copied; tracked and unknown ones are not meant', async () => {
    const root = temporaryRepository({
      ...FILES,
      '.worktreeinclude': '# settings\n.env\n/build/*\n!/build/large\nnotes.txt\n',
    });
    writeFiles(root, {
      '.env': 'KEY=1\n',
      'build/config': 'x',
      'build/large': 'y',
      'notes.txt': 'not ignored',
      'src/.env': 'deep',
    });
    const place = worktreePlace({ root });
    const { worktree, notes } = await createWorktree(place, { name: 'fix', owner });
    expect(Object.keys(worktree.facts.copied)).toEqual(['.env', 'build/config', 'src/.env']);
    expect(notes).toEqual([]);
    expect(existsSync(join(worktree.path, 'build/large'))).toBe(false);
    expect(await releaseWorktree(place, worktree.id)?.settled).toMatchObject({ kept: false });
  });

  test('that leads out of the checkout, or names too much, brings nothing', async () => {
    const root = temporaryRepository({ ...FILES, '.worktreeinclude': '../../**\nbuild/\n' });
    const many = Array.from({ length: 2_001 }, (_, index) => [`build/${index}`, '']);
    writeFiles(root, Object.fromEntries(many));
    const { worktree, notes } = await createWorktree(worktreePlace({ root }), { name: 'fix', owner });
    expect(worktree.facts.copied).toEqual({});
    expect(notes).toEqual(['.worktreeinclude names 2001 files; more than 2000 are not copied']);
  });
});

describe('WORK-2: a base from elsewhere', () => {
  function withRequest(): { root: string; commit: string } {
    const root = temporaryRepository(FILES);
    const remote = join(temporaryDirectory(), 'remote.git');
    git(root, 'clone', '-q', '--bare', root, remote);
    git(root, 'remote', 'add', 'origin', remote);
    git(root, 'checkout', '-q', '-b', 'theirs');
    git(root, 'commit', '-q', '--allow-empty', '-m', 'their work');
    const commit = git(root, 'rev-parse', 'HEAD');
    git(root, 'push', '-q', 'origin', 'HEAD:refs/pull/7/head');
    git(root, 'push', '-q', 'origin', 'HEAD:refs/merge-requests/8/head');
    git(root, 'checkout', '-q', 'main');
    git(root, 'branch', '-qD', 'theirs');
    return { root, commit };
  }

  test.each(['pr/7', '#7', 'PR/7', 'pr/8'])('is a pull request of origin: %s', async (base) => {
    const { root, commit } = withRequest();
    const { worktree } = await createWorktree(worktreePlace({ root }), { name: 'review', owner, base });
    expect(worktree.base).toBe(commit);
    expect(git(worktree.path, 'rev-parse', 'HEAD')).toBe(commit);
    expect(git(root, 'for-each-ref', '--format=%(refname)', 'refs/heads', 'refs/remotes')).toBe(
      'refs/heads/main\nrefs/heads/ramet/review',
    );
  });

  test('is refused in one line where there is no such request, or no origin', async () => {
    const place = worktreePlace({ root: withRequest().root });
    await expect(createWorktree(place, { name: 'review', owner, base: 'pr/99' })).rejects.toMatchObject({
      code: 'no_pull_request',
      message: expect.stringMatching(/^cannot fetch pull request 99 from origin: [^\n]*; fetch it yourself/),
    });
    await expect(createWorktree(worktreePlace(), { name: 'a', owner, base: '#1' })).rejects.toMatchObject({
      code: 'no_pull_request',
    });
    expect(place.registry.list()).toEqual([]);
  });

  test('is a branch that is really named so', async () => {
    const { root } = withRequest();
    git(root, 'branch', 'pr/7');
    const { worktree } = await createWorktree(worktreePlace({ root }), {
      name: 'review',
      owner,
      base: 'pr/7',
    });
    expect(worktree.base).toBe(git(root, 'rev-parse', 'main'));
  });
});
