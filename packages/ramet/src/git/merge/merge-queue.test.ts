import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkoutBytes, mergePlace } from '../../../test/fixtures/merge-repository.ts';
import { temporaryDirectory, writeFiles } from '../../../test/fixtures/temporary.ts';
import { openMergeEntries } from './merge-entries.ts';

const sixteen = Array.from({ length: 16 }, (_, index) => `agent-${index + 1}`);

describe('WORK-5: the merge queue', () => {
  test('lands sixteen disjoint branches, with the tree that git merge makes of them', async () => {
    const place = mergePlace({ 'README.md': '# Start\n', 'src/a.ts': '1\n' });
    for (const name of sixteen)
      place.branch(name, { [`src/${name}.ts`]: `${name}\n`, [`doc/${name}.md`]: name });
    const before = checkoutBytes(place.directory);
    const report = await place.queue({ branches: sixteen });
    expect(place.states(report)).toEqual(sixteen.map((name) => `${name}: landed`));
    expect(checkoutBytes(place.directory)).toEqual(before);
    expect(place.git('rev-parse', 'main')).toBe(report.after);
    place.git('switch', '-q', '-c', 'by-hand', report.before);
    for (const name of sixteen) place.git('merge', '-q', '--no-edit', name);
    expect(place.git('rev-parse', 'by-hand^{tree}')).toBe(place.git('rev-parse', 'main^{tree}'));
    place.git('switch', '-q', '-c', 'octopus', report.before);
    place.git('merge', '-q', '--no-edit', ...sixteen);
    expect(place.git('rev-parse', 'octopus^{tree}')).toBe(place.git('rev-parse', 'main^{tree}'));
    expect(place.git('for-each-ref', 'refs/ramet')).toBe('');
    expect(place.git('fsck', '--no-dangling')).toBe('');
  });

  test('sets a branch that conflicts aside, keeps the reason, and lands the others', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { a: '2\n' });
    const tip = place.branch('two', { a: '3\n' });
    place.branch('three', { b: '1' });
    const report = await place.queue({ branches: ['one', 'two', 'three'] });
    expect(place.states(report)).toEqual(['one: landed', 'two: conflicted', 'three: landed']);
    expect(report.entries[1]?.reason).toBe(
      'conflicts in a (contents); to resolve it: git switch two; git merge main; edit the files; git commit -a --no-edit; ramet merge two --into main',
    );
    expect(place.git('rev-parse', 'two')).toBe(tip);
    place.git('switch', '-q', 'two');
    expect(() => place.git('merge', '-q', 'main')).toThrow();
    writeFileSync(join(place.directory, 'a'), '4\n');
    place.git('commit', '-qam', 'resolved');
    expect(place.states(await place.queue({ branches: ['two'] }))).toEqual(['two: landed']);
    expect(place.git('show', 'main:a')).toBe('4');
  });

  test.each([
    ['an empty branch', 'main has it already'],
    ['a branch that was merged', 'main has it already'],
    ['a branch whose changes came in by another way', 'main has these changes already'],
    ['a branch that was squashed, and changed again since', 'main has it already as one commit'],
  ])('says for %s that there is nothing to merge', async (kind, reason) => {
    const place = mergePlace({ a: '1\n', b: '1\n' });
    if (kind.includes('empty')) place.git('branch', 'done', 'main');
    else {
      place.branch('done', { a: '2\n' });
      place.git('switch', '-q', 'main');
      if (kind.includes('was merged')) place.git('merge', '-q', '--no-ff', '--no-edit', 'done');
      else {
        place.git('merge', '-q', '--squash', 'done');
        place.git('commit', '-qm', 'squashed');
      }
      if (kind.includes('again')) {
        writeFiles(place.directory, { a: '3\n' });
        place.git('commit', '-qam', 'again');
      }
      place.git('switch', '-q', 'desk');
    }
    const main = place.git('rev-parse', 'main');
    const report = await place.queue({ branches: ['done'] });
    expect(report.entries).toMatchObject([{ state: 'nothing', reason }]);
    expect(place.git('rev-parse', 'main')).toBe(main);
  });

  test('merges the commit that is meant by a name, also where the branch has moved or is gone', async () => {
    const place = mergePlace({ a: '1\n' });
    const meant = new Map(['moved', 'gone'].map((name) => [name, place.branch(name, { [name]: '1' })]));
    place.branch('moved', { b: 'not meant' }, 'moved');
    place.git('branch', '-qD', 'gone');
    const report = await place.queue(
      { branches: [...meant.keys()], check: { command: 'test ! -e b', timeoutMs: 60_000 } },
      { tipOf: (name) => meant.get(name) },
    );
    expect(place.states(report)).toEqual(['moved: landed', 'gone: landed']);
    expect(place.git('ls-tree', '--name-only', 'main').split('\n')).toEqual(['a', 'gone', 'moved']);
    expect(place.git('for-each-ref', 'refs/ramet')).toBe('');
  });

  test('refuses names that are no branch, and enters none of them', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { b: '1' });
    await expect(place.queue({ branches: ['one', 'nope', '-x'] })).rejects.toThrow(
      'no branch or commit here: "nope", "-x"',
    );
    await expect(place.queue({ branches: ['one'], target: 'none' })).rejects.toThrow(
      /no branch "none".*--into/,
    );
    await expect(place.queue({ branches: ['main'] })).rejects.toThrow('main cannot be merged into itself');
    expect(place.entries.list()).toEqual([]);
  });

  test('fails a branch of an unrelated history and continues with the others', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { b: '1' });
    place.git('switch', '-q', '--orphan', 'other');
    place.git('commit', '-q', '--allow-empty', '-m', 'other');
    place.git('switch', '-q', 'desk');
    const report = await place.queue({ branches: ['other', 'one'] });
    expect(place.states(report)).toEqual(['other: failed', 'one: landed']);
    expect(report.entries[0]?.reason).toMatch(/share no commit/);
  });

  test('continues with a branch as it is now when it has moved since it was entered', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { b: '1' });
    await place.queue({ branches: ['one'], check: { command: 'false', timeoutMs: 60_000 } });
    expect(place.entries.list()).toMatchObject([
      { state: 'waiting', reason: expect.stringContaining('main itself') },
    ]);
    place.git('switch', '-q', 'one');
    writeFiles(place.directory, { c: '2' });
    place.git('add', '-A');
    place.git('commit', '-qm', 'more');
    place.git('switch', '-q', 'desk');
    expect(place.states(await place.queue({}))).toEqual(['one: landed']);
    expect(place.git('show', 'main:c')).toBe('2');
  });

  test('says what to do when git does not know who commits', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { b: '1' });
    const env = { PATH: process.env.PATH ?? '', HOME: place.project };
    const repository = { ...place.repository, env };
    await expect(place.queue({ branches: ['one'] }, { repository })).rejects.toThrow(
      /who commits: .*user\.name/,
    );
    expect(place.states(await place.queue({}))).toEqual(['one: landed']);
  });
});

describe('WORK-5, WORK-7: a target that is checked out', () => {
  test('stays where it is, and the result waits on a private ref', async () => {
    const place = mergePlace({ a: '1\n' }, true);
    place.branch('one', { b: '1' });
    writeFiles(place.directory, { 'not yet added': 'x', a: 'changed\n' });
    const before = checkoutBytes(place.directory);
    const main = place.git('rev-parse', 'main');
    const report = await place.queue({ branches: ['one'] });
    expect(checkoutBytes(place.directory)).toEqual(before);
    expect(place.git('rev-parse', 'main')).toBe(main);
    expect(place.states(report)).toEqual(['one: integrated']);
    expect(report.kept).toEqual({
      ref: 'refs/ramet/integration/main',
      commit: place.git('rev-parse', 'refs/ramet/integration/main'),
      reason: `${place.directory} has it checked out`,
      take: 'take it with:\n  git merge --ff-only --autostash refs/ramet/integration/main\ngit puts your uncommitted changes back afterwards, and keeps those that conflict in git stash',
    });
    writeFiles(place.directory, { a: '1\n' });
    place.git('merge', '-q', '--ff-only', 'refs/ramet/integration/main');
    expect(place.states(await place.queue({}))).toEqual(['one: landed']);
  });

  test('takes more branches on top of what waits, and all of them again when the person commits', async () => {
    const place = mergePlace({ a: '1\n' }, true);
    place.branch('one', { b: '1' });
    place.branch('two', { c: '1' });
    const first = await place.queue({ branches: ['one'] });
    const second = await place.queue({ branches: ['two'] });
    expect(place.states(second)).toEqual(['one: integrated', 'two: integrated']);
    place.git('merge-base', '--is-ancestor', first.kept?.commit ?? '', second.kept?.commit ?? '');
    writeFiles(place.directory, { mine: 'x' });
    place.git('add', '-A');
    place.git('commit', '-qm', 'mine');
    const third = await place.queue({});
    expect(place.states(third)).toEqual(['one: integrated', 'two: integrated']);
    place.git('merge-base', '--is-ancestor', 'main', third.kept?.commit ?? '');
    expect(place.git('ls-tree', '--name-only', third.kept?.commit ?? '')).toBe('a\nb\nc\nmine');
  });

  test('moves with its files and index when that was asked for and it is clean', async () => {
    const place = mergePlace({ a: '1\n' }, true);
    place.branch('one', { b: '1', a: '2\n' });
    writeFileSync(join(place.directory, '.git/hooks/post-merge'), '#!/bin/sh\ntouch hooked\n', {
      mode: 0o755,
    });
    const report = await place.queue({ branches: ['one'], updateCheckout: true });
    expect(report).toMatchObject({
      kept: null,
      checkout: place.directory,
      after: place.git('rev-parse', 'main'),
    });
    expect(readFileSync(join(place.directory, 'a'), 'utf8')).toBe('2\n');
    expect(place.git('status', '--porcelain')).toBe('');
    expect(existsSync(join(place.directory, 'hooked'))).toBe(false);
  });

  test.each([
    ['changed', 'has 1 uncommitted change', { a: 'mine\n' }],
    ['in the way of a new file', 'is in the way: error: Untracked working tree file', { b: 'mine\n' }],
  ])('does not move where a file is %s', async (_, reason, files) => {
    const place = mergePlace({ a: '1\n' }, true);
    place.branch('one', { b: '1' });
    writeFiles(place.directory, files);
    const before = checkoutBytes(place.directory);
    const report = await place.queue({ branches: ['one'], updateCheckout: true });
    expect(report.kept?.reason).toContain(reason);
    expect(checkoutBytes(place.directory)).toEqual(before);
    expect(place.states(report)).toEqual(['one: integrated']);
  });

  test('counts as checked out in any worktree, and in one that is being rebased', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { b: '1' });
    place.branch('two', { a: '2\n' });
    const other = join(place.project, 'other');
    place.git('worktree', 'add', '-q', other, 'main');
    expect((await place.queue({ branches: ['one'] })).kept?.reason).toBe(`${other} has it checked out`);
    place.git('-C', other, 'commit', '-q', '--allow-empty', '-m', 'x');
    writeFiles(other, { a: '3\n' });
    place.git('-C', other, 'commit', '-qam', 'conflicting');
    expect(() => place.git('-C', other, 'rebase', '-q', 'two')).toThrow();
    const report = await place.queue({ branches: ['one'], updateCheckout: true });
    expect(report.kept?.reason).toMatch(/git is at work in .*other/);
  });

  test('sets aside what is on the private ref when the queue knows nothing of it', async () => {
    const place = mergePlace({ a: '1\n' }, true);
    place.branch('one', { b: '1' });
    place.branch('two', { c: '1' });
    const first = await place.queue({ branches: ['one'] });
    place.git('commit', '-q', '--allow-empty', '-m', 'mine');
    using entries = openMergeEntries(temporaryDirectory());
    const second = await place.queue({ branches: ['two'] }, { entries });
    expect(place.states(second)).toEqual(['two: integrated']);
    const [kept = ''] = place.git('for-each-ref', '--format=%(objectname)', 'refs/ramet/kept').split('\n');
    expect(kept).toBe(first.kept?.commit);
  });

  test('a commit that no branch holds is held while it waits', async () => {
    const place = mergePlace({ a: '1\n' }, true);
    const tip = place.branch('one', { b: '1' });
    place.git('branch', '-D', '-q', 'one');
    await place.queue({ branches: [tip] });
    expect(place.git('for-each-ref', '--format=%(objectname)', 'refs/ramet/queued')).toBe(tip);
    expect(place.states(await place.queue({ updateCheckout: true }))).toEqual([`${tip}: landed`]);
    expect(place.git('for-each-ref', 'refs/ramet')).toBe('');
  });
});
