import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { sharedCheckout } from '../../../test/fixtures/shared-checkout.ts';
import { test } from '../../../test/fixtures/temporary-directory.ts';

const ONE = 'aaaaaaaa.1';
const TWO = 'aaaaaaaa.2';
const OTHER = 'bbbbbbbb.1';

const HARMFUL = [
  'git stash',
  'git checkout .',
  'git checkout HEAD -- b.txt',
  'git checkout other',
  'git restore b.txt',
  'git restore --staged c.txt',
  'git reset',
  'git reset HEAD~1',
  'git rm -f b.txt',
  'git discard',
  'cd sub && sh -c "git checkout .."',
];

describe('WORK-1: an agent’s commit holds its own paths only', () => {
  test('of git add -A and git commit, and says what was left out and whose it is', async ({ directory }) => {
    const { root, git, agent } = sharedCheckout(directory);
    const [one, two] = [agent(ONE), agent(TWO)];
    await one.files.write('mine.txt', 'mine\n');
    await two.files.write('theirs.txt', 'theirs\n');
    writeFileSync(join(root, 'person.txt'), 'a person’s\n');
    const said = await one.sh('git add -A && git commit -qm "mine"');
    expect(said).toContain(`theirs.txt (changed by agent ${TWO})`);
    expect(said).toContain('person.txt (not known to be yours; name it to take it)');
    expect(git('show', '--name-only', '--format=%s', 'HEAD')).toBe('mine\n\nmine.txt\n');
    expect(git('status', '--porcelain')).toBe('?? person.txt\n?? theirs.txt\n');
  });

  test.for([
    'git add . && git commit -qm x',
    'git commit -qam x',
    'git commit -q -a -m x',
    'git add -u; git commit -qmx',
  ])('of %s', async (command, { directory }) => {
    const { git, agent } = sharedCheckout(directory);
    const [one, two] = [agent(ONE), agent(OTHER)];
    await one.files.read('a.txt');
    await one.files.write('a.txt', 'one\n');
    await two.files.read('b.txt');
    await two.files.write('b.txt', 'two\n');
    await one.sh(command);
    expect(git('show', '--name-only', '--format=%s', 'HEAD')).toBe('x\n\na.txt\n');
    await two.sh(command);
    expect(git('show', '--name-only', '--format=%s', 'HEAD')).toBe('x\n\nb.txt\n');
  });

  test('while what a person and another agent have staged stays staged, byte for byte', async ({
    directory,
  }) => {
    const { root, git, agent } = sharedCheckout(directory);
    const [one, two] = [agent(ONE), agent(TWO)];
    writeFileSync(join(root, 'c.txt'), 'staged by a person\n');
    git('add', 'c.txt');
    writeFileSync(join(root, 'c.txt'), 'and changed since\n');
    await two.files.write('two.txt', 'two\n');
    await two.sh('git add two.txt');
    const staged = (): string => git('ls-files', '-s', 'c.txt', 'two.txt');
    const before = staged();
    await one.files.write('one.txt', 'one\n');
    expect(await one.sh('git add -A && git commit -qm one')).toContain('two.txt');
    expect(git('show', '--name-only', '--format=', 'HEAD')).toBe('one.txt\n');
    expect(staged()).toBe(before);
    expect(git('status', '--porcelain')).toBe('MM c.txt\nA  two.txt\n');
  });

  test('also of a file that the agent has changed and a person has staged', async ({ directory }) => {
    const { root, git, agent } = sharedCheckout(directory);
    const [one] = [agent(ONE), agent(TWO)];
    await one?.files.read('a.txt');
    await one?.files.write('a.txt', 'as the person staged it\n');
    git('add', 'a.txt');
    await one?.files.write('a.txt', 'as the agent went on\n');
    const said = await one?.sh('git add -A; git commit -qam x');
    expect(said).toContain('a.txt (staged by someone else; name it to take it)');
    expect(said).toContain('nothing of yours to commit');
    expect(git('show', ':a.txt')).toBe('as the person staged it\n');
    await one?.sh('git add a.txt');
    writeFileSync(join(root, 'a.txt'), 'as the person went on\n');
    git('add', 'a.txt');
    expect(await one?.sh('git commit -qm x')).toContain('a.txt (staged by someone else');
    writeFileSync(join(root, 'a.txt'), 'as the agent went on\n');
    expect(await one?.sh('git add a.txt && git commit -qm named && git show HEAD:a.txt')).toBe(
      'as the agent went on',
    );
  });

  test('and a path that is named is taken, unless a living agent has changed it', async ({ directory }) => {
    const { root, git, agent } = sharedCheckout(directory);
    const [one, two] = [agent(ONE), agent(TWO)];
    await two.files.write('theirs.txt', 'theirs\n');
    writeFileSync(join(root, 'made by bash.txt'), 'x\n');
    expect(await one.sh('git add theirs.txt')).toMatch(/not added: theirs\.txt .*Exit code 1/s);
    expect(await one.sh('git add "made by bash.txt" && git commit -qm named')).toBe('(no output)');
    expect(git('show', '--name-only', '--format=', 'HEAD')).toBe('made by bash.txt\n');
    two.leave();
    expect(await one.sh('git add -A && git commit -qm rest && git status --porcelain')).toBe('(no output)');
  });

  test('and what another has committed already is answered with that commit', async ({ directory }) => {
    const { git, agent } = sharedCheckout(directory);
    const [one, two] = [agent(ONE), agent(TWO)];
    await one.files.read('a.txt');
    await one.files.write('a.txt', 'one\n');
    await two.files.read('a.txt');
    await two.files.write('a.txt', 'one and two\n');
    await two.sh('git commit -qam "by two"');
    const said = await one.sh('git commit -qam "by one"');
    const hash = git('rev-parse', '--short', 'HEAD').trim();
    expect(said).toContain(`a.txt is already committed, by agent ${TWO}: ${hash} "by two"`);
    expect(said).toContain('Exit code 1');
  });

  test('made with hooks, options, another directory, a removal and an amendment of its own', async ({
    directory,
  }) => {
    const { root, git, agent } = sharedCheckout(directory);
    const [one, two] = [agent(ONE), agent(TWO)];
    await two.files.write('two.txt', 'two\n');
    await two.sh('git add two.txt');
    mkdirSync(join(root, 'sub'));
    const hook = join(root, '.git/hooks/pre-commit');
    writeFileSync(hook, '#!/bin/sh\necho formatted > sub/x.txt\ngit add sub/x.txt\n', { mode: 0o755 });
    await one.files.write('sub/x.txt', 'raw\n');
    expect(await one.sh('cd sub && git add . && git commit -q -m "a -a b" -m "more"')).toContain('two.txt');
    expect(git('show', '--name-only', '--format=%B', 'HEAD')).toBe(
      'a -a b\n\nmore\n\nRamet-Agent: aaaaaaaa.1\nRamet-Session: aaaaaaaa\n\n\nsub/x.txt\n',
    );
    expect(git('show', 'HEAD:sub/x.txt')).toBe('formatted\n');
    expect(git('status', '--porcelain')).toBe('A  two.txt\n');
    rmSync(hook);
    expect(await two.sh('git commit --amend -qm stolen')).toContain('not your commit to amend');
    await one.sh(
      'git rm -q a.txt && git commit -qm "without a" && git -C sub commit -q --amend -m "without a at all"',
    );
    expect(git('show', '--name-status', '--format=%s', 'HEAD')).toBe('without a at all\n\nD\ta.txt\n');
    await two.sh('git -C "$PWD" commit -qm two');
    expect(git('show', '--name-only', '--format=%s', 'HEAD')).toBe('two\n\ntwo.txt\n');
  });
});

describe('WORK-1: what would remove others’ work is refused while they live', () => {
  test('with the reason, whatever way it is said, and nothing changes', async ({ directory }) => {
    const { root, git, agent } = sharedCheckout(directory);
    git('config', 'alias.discard', 'reset --hard');
    git('commit', '-q', '--allow-empty', '-m', 'second');
    git('branch', 'other', 'HEAD~1');
    mkdirSync(join(root, 'sub'));
    const [one, two] = [agent(ONE), agent(TWO)];
    await two.files.read('b.txt');
    await two.files.write('b.txt', 'two\n');
    await two.files.write('new.txt', 'two\n');
    writeFileSync(join(root, 'c.txt'), 'a person’s\n');
    git('add', 'c.txt');
    const state = (): string => git('status', '--porcelain', '--branch') + git('rev-parse', 'HEAD');
    const before = state();
    for (const command of HARMFUL) {
      const said = await one.sh(command);
      const refused = /refused while agent aaaaaaaa\.2 works in this checkout too[\s\S]*Exit code 1/.test(
        said,
      );
      expect([command, refused, state()]).toEqual([command, true, before]);
    }
    expect(readFileSync(join(root, 'b.txt'), 'utf8')).toBe('two\n');
  });

  test('and restoring what only the agent itself has changed is not', async ({ directory }) => {
    const { root, agent } = sharedCheckout(directory);
    const [one] = [agent(ONE), agent(TWO)];
    await one?.files.read('a.txt');
    for (const command of ['git restore a.txt', 'git checkout -- a.txt', 'git checkout a.txt']) {
      await one?.files.read('a.txt');
      await one?.files.write('a.txt', 'changed\n');
      expect(await one?.sh(command)).not.toContain('refused');
      expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('a.txt\n');
    }
  });

  test('nor is anything when the agent is alone, or the others’ process is gone', async ({ directory }) => {
    const { root, agent, state } = sharedCheckout(directory);
    const one = agent(ONE);
    writeFileSync(join(root, 'a.txt'), 'anything\n');
    expect(
      await one.sh('git add -A && git commit -qm all && git checkout -qb new && git reset -q --hard HEAD~1'),
    ).toBe('(no output)');
    const dead = join(state, 'agents', '4194305@deadbeef-1 cccccccc.1');
    writeFileSync(dead, '');
    expect(await one.sh('git reset -q --hard')).toBe('(no output)');
    expect(existsSync(dead)).toBe(false);
  });
});

describe('WORK-1: checkouts of other shapes', () => {
  test('two sessions before the first commit, names that git quotes, a symlink, a deleted file', async ({
    directory,
  }) => {
    const { root, git, agent } = sharedCheckout(directory);
    git('update-ref', '-d', 'HEAD');
    git('rm', '-rq', '--cached', '.');
    const [one, two] = [agent(ONE), agent(OTHER)];
    symlinkSync('b.txt', join(root, 'link'));
    await one.files.read('link');
    await one.files.write('link', 'through the link\n');
    await one.files.write('ü "quoted" \\ [x]*.txt', 'odd\n');
    await two.files.write('two.txt', 'two\n');
    await two.sh('git add .');
    expect(await one.sh('git add -A && git commit -qm odd')).toContain('two.txt');
    expect(
      git('-c', 'core.quotePath=false', 'show', '-z', '--name-only', '--format=', 'HEAD').split('\0'),
    ).toEqual(['b.txt', 'ü "quoted" \\ [x]*.txt', '']);
    rmSync(join(root, 'b.txt'));
    expect(
      await one.sh('git add b.txt && git commit -qm "without b" && git show --name-status --format= HEAD'),
    ).toContain('D\tb.txt');
    expect(await two.sh('git commit -qm two && git show --name-only --format= HEAD')).toBe('two.txt');
  });

  test('a worktree and a submodule are checkouts of their own', async ({ directory }) => {
    const { root, git, agent } = sharedCheckout(directory);
    git('worktree', 'add', '-q', '../tree');
    git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', root, 'module');
    agent(ONE);
    const inTree = agent(TWO, join(directory, 'tree'));
    writeFileSync(join(directory, 'tree', 'a.txt'), 'changed\n');
    expect(await inTree.sh('git commit -qam tree && git reset -q --hard HEAD~1')).toBe('(no output)');
    const beside = agent(OTHER);
    expect(
      await beside.sh('cd module && git checkout -qb own && echo x > new && git add -A && git commit -qm x'),
    ).toBe('(no output)');
  });
});
