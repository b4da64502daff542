import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { IDENTITY, mergePlace } from '../../../test/fixtures/merge-repository.ts';
import { runSync } from '../../../test/fixtures/run-sync.ts';
import { temporaryDirectory, temporaryRepository, writeFiles } from '../../../test/fixtures/temporary.ts';
import { findRepository } from '../repository.ts';
import { type ChangeWatch, checkoutChanges } from './checkout-changes.ts';
import { type CheckoutState, closeCheckoutState, readCheckoutState } from './checkout-state.ts';

function place(files: Record<string, string> = { 'a.txt': '1\n' }) {
  const directory = temporaryRepository(files);
  const env = { PATH: process.env.PATH ?? '', HOME: temporaryDirectory(), ...IDENTITY };
  const git = (...args: string[]): string => runSync('git', args, { cwd: directory, env }).trimEnd();
  const repository = findRepository(directory);
  if (repository === null) throw new Error('no repository');
  const watch: ChangeWatch = {
    repository,
    env,
    agent: 'aaaaaaaa.2',
    others: () => [],
    ofHooks: () => [],
    isHookAtWork: () => false,
  };
  return { directory, git, watch, before: () => stateOf(watch) };
}

function stateOf({ repository }: ChangeWatch): CheckoutState {
  const state = readCheckoutState(repository);
  if (state === null) throw new Error('no state');
  onTestFinished(() => closeCheckoutState(state));
  return state;
}

const COMMIT = ['commit', '-q', '--allow-empty', '-m'];

describe('WORK-9: what changed in the checkout of the parent', () => {
  test('is nothing where nothing changed, and after reading or work in worktrees', async () => {
    const { directory, git, watch, before } = place();
    const state = before();
    expect(await checkoutChanges(state, watch)).toEqual([]);
    const worktree = join(temporaryDirectory(), 'w');
    git('worktree', 'add', '-q', '-b', 'ramet/x', worktree);
    git('-C', worktree, ...COMMIT, 'own work');
    git('update-ref', 'refs/ramet/wip/x', 'HEAD');
    // The same content with another time makes git write the index again.
    writeFiles(directory, { 'a.txt': '1\n' });
    runSync('touch', ['-d', '2020-01-01', join(directory, 'a.txt')]);
    git('status');
    expect(await checkoutChanges(state, watch)).toEqual([]);
    git('pack-refs', '--all');
    expect(await checkoutChanges(state, watch)).toEqual([]);
  });

  test.each([
    ['a commit', [[...COMMIT, 'mine']], /^refs\/heads\/main moved from \w{10} to \w{10} \(commit: mine\)$/],
    ['a branch', [['branch', 'new']], /^refs\/heads\/new was made at \w{10}/],
    ['a tag', [['tag', 'v1']], /^refs\/tags\/v1 was made/],
    ['another branch', [['switch', '-q', '-c', 'x']], /^HEAD went from main to x$/],
    [
      'there and back',
      [
        ['switch', '-q', '-c', 'x'],
        ['switch', '-q', 'main'],
        ['branch', '-D', 'x'],
      ],
      /^HEAD: checkout: moving from x to main/,
    ],
    ['a stash', [['stash', '-q']], /^refs\/stash was made/],
  ])('is named: %s', async (_, commands, expected) => {
    const { directory, git, watch, before } = place();
    writeFiles(directory, { 'a.txt': 'changed\n' });
    const state = before();
    for (const command of commands) git(...command);
    const changes = await checkoutChanges(state, watch);
    expect(
      changes.some((line) => expected.test(line)),
      changes.join('\n'),
    ).toBe(true);
  });

  test('is named: a branch that was deleted, also a packed one', async () => {
    const { git, watch, before } = place();
    git('branch', 'old');
    git('pack-refs', '--all');
    const state = before();
    git('branch', '-D', 'old');
    expect(await checkoutChanges(state, watch)).toEqual([
      expect.stringMatching(/^refs\/heads\/old was deleted \(it was \w{10}\)$/),
    ]);
  });

  test('is named: what is staged, unless another agent works there', async () => {
    const { directory, git, watch, before } = place();
    const state = before();
    writeFiles(directory, { 'a.txt': '2\n', 'b.txt': '1\n' });
    git('add', '-A');
    expect(await checkoutChanges(state, watch)).toEqual([
      'the index has other entries or marks for a.txt, b.txt',
    ]);
    expect(await checkoutChanges(state, { ...watch, others: () => ['aaaaaaaa.1'] })).toEqual([]);
  });

  test.each([['--assume-unchanged'], ['--skip-worktree']])('is named: the mark %s', async (mark) => {
    const { git, watch, before } = place();
    const state = before();
    git('update-index', mark, 'a.txt');
    expect(await checkoutChanges(state, watch)).toEqual(['the index has other entries or marks for a.txt']);
  });

  test('is named: a mark or an entry in the index also where the branch moved', async () => {
    const { directory, git, watch, before } = place({ 'a.txt': '1\n', 'b.txt': '1\n', 'c.txt': '1\n' });
    writeFiles(directory, { 'a.txt': '2\n' });
    git('commit', '-q', '-a', '-m', 'second');
    const state = before();
    git('update-ref', 'refs/heads/main', 'HEAD~1');
    git('update-index', '--assume-unchanged', 'b.txt');
    const changes = await checkoutChanges(state, watch);
    expect(changes[0]).toMatch(/^refs\/heads\/main moved/);
    expect(changes[1]).toBe('the index has other entries or marks for b.txt');
    git('update-index', '--no-assume-unchanged', 'b.txt');
    git('rm', '-q', '--cached', 'c.txt');
    expect((await checkoutChanges(state, watch))[1]).toBe('the index has other entries or marks for c.txt');
  });

  test('is told once where the index only follows HEAD', async () => {
    const { directory, git, watch, before } = place({ 'a.txt': '1\n', 'gone.txt': '1\n' });
    const state = before();
    writeFiles(directory, { 'a.txt': '2\n', 'new.txt': '1\n' });
    rmSync(join(directory, 'gone.txt'));
    git('add', '-A');
    git(...COMMIT, 'mine');
    expect((await checkoutChanges(state, watch)).filter((line) => line.includes('index'))).toEqual([]);
    git('reset', '-q', '--hard', 'HEAD~1');
    git('reset', '-q', '--hard', 'HEAD@{1}');
    expect((await checkoutChanges(state, watch)).filter((line) => line.includes('index'))).toEqual([]);
  });

  test('is named: a stash below the top that was dropped, and each once', async () => {
    const { directory, git, watch, before } = place();
    for (const text of ['one', 'two', 'three']) {
      writeFiles(directory, { 'a.txt': text });
      git('stash', 'push', '-q', '-m', text);
    }
    const state = before();
    git('stash', 'drop', '-q', 'stash@{1}');
    const line = expect.stringMatching(/^stashes were dropped: \w{10} \(On main: two\)$/);
    expect(await checkoutChanges(state, watch)).toEqual([line]);
    git('stash', 'drop', '-q');
    const moved = expect.stringMatching(/^refs\/stash moved/);
    expect(await checkoutChanges(state, watch)).toEqual([line, moved]);
  });

  test('is named: a merge in progress, patterns and where objects are', async () => {
    const { directory, git, watch, before } = place();
    writeFiles(directory, { '.git/info/exclude': '# none\n', '.git/REVERT_HEAD': 'x\n' });
    const state = before();
    writeFiles(directory, {
      '.git/MERGE_HEAD': `${git('rev-parse', 'HEAD')}\n`,
      '.git/info/exclude': '*.ts\n',
      '.git/info/attributes': '* filter=x\n',
      '.git/objects/info/alternates': `${temporaryDirectory()}\n`,
    });
    rmSync(join(directory, '.git/REVERT_HEAD'));
    expect(await checkoutChanges(state, watch)).toEqual([
      '.git: MERGE_HEAD was made, REVERT_HEAD was removed, info/attributes was made, info/exclude changed, objects/info/alternates was made',
    ]);
    // Others that work there may merge.
    expect(await checkoutChanges(state, { ...watch, others: () => ['aaaaaaaa.1'] })).toEqual([
      '.git: info/attributes was made, info/exclude changed, objects/info/alternates was made',
    ]);
  });

  test('is named: a rebase that stopped, and its list of steps', async () => {
    const { directory, watch, before } = place();
    writeFiles(directory, { '.git/rebase-merge/git-rebase-todo': 'noop\n' });
    const state = before();
    writeFiles(directory, { '.git/rebase-merge/git-rebase-todo': 'exec touch x\n' });
    expect(await checkoutChanges(state, watch)).toEqual(['.git: rebase-merge/git-rebase-todo changed']);
    rmSync(join(directory, '.git/rebase-merge'), { recursive: true });
    expect(await checkoutChanges(state, watch)).toEqual([
      '.git: rebase-merge was removed, rebase-merge/git-rebase-todo was removed',
    ]);
  });

  test('is named: a reflog of a branch that was cut or removed', async () => {
    const { directory, git, watch, before } = place();
    git('branch', 'other');
    const state = before();
    writeFileSync(join(directory, '.git/logs/refs/heads/other'), '');
    rmSync(join(directory, '.git/logs/refs/heads/main'));
    expect(await checkoutChanges(state, watch)).toEqual([
      'reflogs were cut, which git gc does too: refs/heads/main, refs/heads/other',
    ]);
  });

  test('is named with the dangerous kinds first', async () => {
    const { directory, git, watch, before } = place();
    git('branch', 'a');
    git('branch', 'b');
    const state = before();
    git(...COMMIT, 'mine');
    for (const name of ['a', 'b', 'new']) git('update-ref', `refs/heads/${name}`, 'HEAD');
    git('tag', 'v1');
    git('config', 'alias.x', '!touch x');
    git('config', 'user.name', 'x');
    writeFiles(directory, { '.git/hooks/pre-commit': 'touch x\n', 'b.txt': '1\n' });
    git('add', 'b.txt');
    const changes = await checkoutChanges(state, watch);
    expect(changes.slice(0, 4)).toEqual([
      '.git/config: alias.x was set, user.name was set',
      '.git/hooks: pre-commit was made',
      expect.stringMatching(/^refs\/heads\/main moved/),
      'the index has other entries or marks for b.txt',
    ]);
    expect(changes).toHaveLength(9);
  });

  test('is named: settings by their names and never by their values, hooks by theirs', async () => {
    const { directory, git, watch, before } = place();
    git('config', 'old.key', '1');
    writeFiles(directory, { '.git/hooks/pre-push': 'exit 0\n', '.git/hooks/gone': '' });
    const state = before();
    git('config', 'remote.x.url', 'https://user:secret@example.invalid/x');
    git('config', 'old.key', '2');
    git('config', '--unset', 'core.bare');
    // The agent's own branch is its own business.
    git('config', 'branch.ramet/x.remote', 'origin');
    writeFiles(directory, { '.git/hooks/pre-commit': 'touch /tmp/x\n', '.git/hooks/pre-push': 'exit 1\n' });
    rmSync(join(directory, '.git/hooks/gone'));
    expect(await checkoutChanges(state, watch)).toEqual([
      '.git/config: core.bare was removed, old.key changed, remote.x.url was set',
      '.git/hooks: gone was removed, pre-commit was made, pre-push changed',
    ]);
  });

  test('is named: a configuration that git cannot read, and one that is gone', async () => {
    const { directory, watch, before } = place();
    const state = before();
    writeFiles(directory, { '.git/config': '[broken' });
    const [line] = await checkoutChanges(state, watch);
    expect(line).toBe('.git/config: it has other content, which git cannot read');
    rmSync(join(directory, '.git/config'));
    expect((await checkoutChanges(state, watch))[0]).toMatch(/^\.git\/config: core\.bare was removed/);
  });

  test('is nothing where a file of settings was written again with the same settings', async () => {
    const { directory, watch, before } = place();
    const state = before();
    const path = join(directory, '.git/config');
    writeFileSync(path, `# a comment\n${readFileSync(path, 'utf8')}`);
    expect(await checkoutChanges(state, watch)).toEqual([]);
  });

  test('is not named where another agent made it, and is where the agent itself did', async () => {
    const { git, watch, before } = place();
    const state = before();
    git(...COMMIT, 'work\n\nRamet-Agent: aaaaaaaa.1');
    expect(await checkoutChanges(state, watch)).toEqual([]);
    const [first] = await checkoutChanges(state, { ...watch, agent: 'aaaaaaaa.1' });
    expect(first).toMatch(/^refs\/heads\/main moved/);
  });

  test('is not named where the merge queue made it, with or without the files', async () => {
    const merging = mergePlace({ a: '1\n' }, true);
    merging.branch('one', { b: '1' });
    merging.branch('free', { c: '1' });
    merging.git('branch', 'target');
    const repository = findRepository(merging.directory);
    if (repository === null) throw new Error('no repository');
    const watch = {
      repository,
      env: merging.repository.env,
      agent: 'a.2',
      others: () => [],
      ofHooks: () => [],
      isHookAtWork: () => false,
    };
    const state = stateOf(watch);
    await merging.queue({ branches: ['free'], target: 'target' });
    const report = await merging.queue({ branches: ['one'], updateCheckout: true });
    expect(report.checkout).toBe(merging.directory);
    expect(await checkoutChanges(state, watch)).toEqual([]);
  });

  test('a checkout that is itself a worktree is judged by its own HEAD', async () => {
    const { git, watch } = place();
    const worktree = join(temporaryDirectory(), 'w');
    git('worktree', 'add', '-q', '-b', 'ramet/outer', worktree);
    const repository = findRepository(worktree);
    if (repository === null) throw new Error('no repository');
    const own = { ...watch, repository };
    const state = stateOf(own);
    git(...COMMIT, 'in the main one');
    expect((await checkoutChanges(state, own))[0]).toMatch(/^refs\/heads\/main moved/);
    git('-C', worktree, ...COMMIT, 'in this one');
    expect(await checkoutChanges(state, own)).toContainEqual(
      expect.stringMatching(/^refs\/heads\/ramet\/outer moved/),
    );
  });
});
