import { describe, expect, test } from 'vitest';
import { type MergePlace, mergePlace } from '../../../test/fixtures/merge-repository.ts';
import { writeFiles } from '../../../test/fixtures/temporary.ts';

/** Another commit on a branch, by another person. */
function more(place: MergePlace, branch: string, files: Record<string, string>, message: string): string {
  place.git('switch', '-q', branch);
  writeFiles(place.directory, files);
  place.git('add', '-A');
  place.git('commit', '-q', '--author=Ada <ada@example.invalid>', '--date=@1700000000 +0000', '-m', message);
  place.git('switch', '-q', 'desk');
  return place.git('rev-parse', branch);
}

const TRAILERS = 'Ramet-Agent: abcd1234.2\nRamet-Session: abcd1234\nRamet-Task: Count the lines';

function worked(): MergePlace {
  const place = mergePlace({ a: '1\n', b: '1\n' });
  place.branch('one', { a: '2\n' });
  more(place, 'one', { c: '1\n' }, `Add c\n\nIt was missing.\n\n${TRAILERS}`);
  place.branch('other', { b: '2\n' });
  return place;
}

describe('WORK-5, WORK-6: how a branch is taken in', () => {
  test('merge makes a commit with both parents, its commits in the text, and the trailers of its agent', async () => {
    const place = worked();
    const report = await place.queue({ branches: ['one'] });
    expect(place.git('log', '-1', '--format=%P', 'main').split(' ')).toEqual([
      report.before,
      place.git('rev-parse', 'one'),
    ]);
    expect(place.git('log', '-1', '--format=%B', 'main').trim()).toBe(
      `Count the lines\n\nMerge one into main\n\n* work on one\n* Add c\n\n${TRAILERS}`,
    );
    expect(place.git('log', '-1', '--format=%an %ae %cn', 'main')).toBe(
      'Person person@example.invalid Person',
    );
  });

  test('the description of the work becomes the subject', async () => {
    const place = worked();
    const storyOf = () => ({ subject: `Lines are\n counted ${'x'.repeat(80)}`, agent: 'zzzz.9' });
    await place.queue({ branches: ['one'] }, { storyOf });
    const text = place.git('log', '-1', '--format=%B', 'main');
    expect(text.split('\n')[0]).toMatch(/^Lines are counted x+…$/);
    expect(text.split('\n')[0]).toHaveLength(72);
    expect(text).toContain('Ramet-Agent: zzzz.9\nRamet-Session: abcd1234\n');
  });

  test('fast-forward lands a commit as it is, and merges it where the target has moved', async () => {
    const place = worked();
    const tip = place.git('rev-parse', 'one');
    const report = await place.queue({ branches: [tip], strategy: 'fast-forward' });
    expect(report.after).toBe(tip);
    expect(place.git('rev-parse', 'main')).toBe(tip);
    const other = place.git('rev-parse', 'other');
    const merged = await place.queue({ branches: [other], strategy: 'fast-forward' });
    expect(place.git('log', '-1', '--format=%P', 'main').split(' ')).toEqual([tip, other]);
    expect(merged.entries.map(({ state }) => state)).toEqual(['landed']);
  });

  test('a private ref can be the target, under the name of the branch that it is for', async () => {
    const place = worked();
    const before = place.git('rev-parse', 'main');
    place.git('update-ref', 'refs/ramet/operator/x', before);
    const request = { target: 'refs/ramet/operator/x', targetName: 'main', branches: ['one', 'other'] };
    const outcomes = new Map();
    const check = { command: 'test -e c', timeoutMs: 60_000 };
    const report = await place.queue({ ...request, check }, { outcomes });
    expect(place.states(report)).toEqual(['one: landed', 'other: landed']);
    expect(place.git('rev-parse', 'main')).toBe(before);
    expect(place.git('log', '-1', '--format=%B', 'refs/ramet/operator/x')).toContain('Merge other into main');
    expect([...outcomes.keys()]).toEqual([place.git('rev-parse', `${report.after}^{tree}`)]);
    // The same check is not run again on the same files: this command would fail now.
    const known = new Map([
      [place.git('rev-parse', `${report.after}^{tree}`), outcomes.values().next().value],
    ]);
    const failing = { command: 'exit 1', timeoutMs: 60_000 };
    const landed = await place.queue(
      { branches: [report.after], strategy: 'fast-forward', check: failing },
      { outcomes: known },
    );
    expect(landed.entries.map(({ state }) => state)).toEqual(['landed']);
    expect(place.git('rev-parse', 'main')).toBe(report.after);
  });

  test('squash makes one commit with one parent', async () => {
    const place = worked();
    const report = await place.queue({ branches: ['other', 'one'], strategy: 'squash' });
    expect(place.git('rev-list', '--count', `${report.before}..main`)).toBe('2');
    expect(place.git('log', '--format=%s', `${report.before}..main`)).toBe('Count the lines\nwork on other');
    expect(place.git('log', '-1', '--format=%B', 'main')).toContain('* work on one\n* Add c\n');
    expect(place.states(await place.queue({ branches: ['one'] }))).toEqual(['one: nothing']);
  });

  test('rebase puts the commits themselves on top, with their authors, and leaves the branch where it is', async () => {
    const place = worked();
    const tip = place.git('rev-parse', 'one');
    await place.queue({ branches: ['other'] });
    const report = await place.queue({ branches: ['one'], strategy: 'rebase' });
    expect(place.git('log', '--format=%an %s', `${report.before}..main`)).toBe(
      'Ada Add c\nPerson work on one',
    );
    expect(place.git('log', '-1', '--format=%ad', '--date=raw', 'main')).toBe('1700000000 +0000');
    expect(place.git('log', '-1', '--format=%B', 'main').trim()).toBe(
      `Add c\n\nIt was missing.\n\n${TRAILERS}`,
    );
    expect(place.git('rev-parse', 'one')).toBe(tip);
    place.git('switch', '-q', '-c', 'by-hand', 'one');
    place.git('rebase', '-q', report.before);
    expect(place.git('rev-parse', 'by-hand^{tree}')).toBe(place.git('rev-parse', 'main^{tree}'));
  });

  test('rebase leaves out commits whose change is there already', async () => {
    const place = worked();
    place.git('switch', '-q', 'main');
    place.git('cherry-pick', 'one~1');
    place.git('switch', '-q', 'desk');
    const report = await place.queue({ branches: ['one'], strategy: 'rebase' });
    expect(place.git('log', '--format=%s', `${report.before}..main`)).toBe('Add c');
  });

  test('rebase refuses a branch with merge commits and says what to use', async () => {
    const place = worked();
    place.git('switch', '-q', 'one');
    place.git('merge', '-q', '--no-edit', 'other');
    place.git('switch', '-q', 'desk');
    const report = await place.queue({ branches: ['one'], strategy: 'rebase' });
    expect(report.entries[0]).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('--strategy merge or squash'),
    });
  });

  test('cherry-pick takes a single commit by its id, and notes where it came from', async () => {
    const place = worked();
    const tip = place.git('rev-parse', 'one');
    const report = await place.queue({ branches: [tip], strategy: 'cherry-pick' });
    expect(place.states(report)).toEqual([`${tip}: landed`]);
    expect(place.git('ls-tree', '--name-only', 'main')).toBe('a\nb\nc');
    expect(place.git('show', 'main:a')).toBe('1');
    expect(place.git('log', '-1', '--format=%B', 'main').trim()).toBe(
      `Add c\n\nIt was missing.\n\n(cherry picked from commit ${tip})\n\n${TRAILERS}`,
    );
  });

  test('cherry-pick of a branch takes all its commits', async () => {
    const place = worked();
    const report = await place.queue({ branches: ['one'], strategy: 'cherry-pick' });
    expect(place.git('rev-list', '--count', `${report.before}..main`)).toBe('2');
  });
});

describe('WORK-5: the outcome of a conflict', () => {
  /**
   * `late` holds what `early` brings and a change of its own beside it, so that a merge conflicts and a replay does
   * not.
   */
  function overlapping(): MergePlace {
    const place = mergePlace({ a: '1\n', b: '1\n' });
    place.branch('late', { a: '2\n' });
    more(place, 'late', { b: '2\n' }, 'own');
    place.branch('early', {});
    place.git('switch', '-q', 'early');
    place.git('cherry-pick', 'late~1');
    place.git('switch', '-q', 'desk');
    more(place, 'early', { a: '3\n' }, 'further');
    return place;
  }

  test('with person it stays on its branch', async () => {
    const place = overlapping();
    const report = await place.queue({ branches: ['early', 'late'] });
    expect(place.states(report)).toEqual(['early: landed', 'late: conflicted']);
  });

  test('with retry it is tried again commit by commit when the others are in', async () => {
    const place = overlapping();
    const report = await place.queue({ branches: ['late', 'early'].reverse(), onConflict: 'retry' });
    expect(place.states(report)).toEqual(['early: landed', 'late: landed']);
    expect([place.git('show', 'main:a'), place.git('show', 'main:b')]).toEqual(['3', '2']);
  });

  test('with resolve a resolver gets the files with markers, and its tree is what lands', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { a: '2\n' });
    const theirs = place.branch('two', { a: '3\n' });
    const report = await place.queue(
      { branches: ['one', 'two'], onConflict: 'resolve' },
      {
        resolveConflict: async (conflict) => {
          expect(conflict).toMatchObject({ branch: 'two', target: 'main', theirs, files: ['a'] });
          expect(place.git('show', `${conflict.tree}:a`)).toMatch(/^<{7} .*\n2\n={7}\n3\n>{7} /);
          const by = { agent: 'abcd1234.1', session: 'abcd1234', task: 'resolve it' };
          return { tree: place.git('rev-parse', 'two^{tree}'), by };
        },
      },
    );
    expect(place.states(report)).toEqual(['one: landed', 'two: landed']);
    expect(place.git('show', 'main:a')).toBe('3');
    expect(place.git('log', '-1', '--format=%P', 'main')).toContain(theirs);
    expect(place.git('log', '-1', '--format=%B', 'main')).toContain('\n\nConflicts were resolved in a.\n');
    // Who decided the lines is who blame names.
    expect(place.git('log', '-1', '--format=%B', 'main')).toContain('Ramet-Agent: abcd1234.1\n');
  });

  test('with a resolver that gives up it stays on its branch', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { a: '2\n' });
    place.branch('two', { a: '3\n' });
    const resolveConflict = async () => ({ tree: null, tried: 'agent x tried: no (ramet show x)' });
    const report = await place.queue(
      { branches: ['one', 'two'], onConflict: 'resolve' },
      { resolveConflict },
    );
    expect(place.states(report)).toEqual(['one: landed', 'two: conflicted']);
    expect(report.entries[1]?.reason).toContain('; agent x tried: no (ramet show x); to resolve it: ');
  });

  test('names that this disk cannot tell apart are a conflict', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { Readme: '2\n' });
    place.branch('two', { README: '3\n' });
    place.git('config', 'core.ignorecase', 'true');
    const report = await place.queue({ branches: ['one', 'two'] });
    expect(report.entries[1]).toMatchObject({
      state: 'conflicted',
      reason: expect.stringMatching(/README, Readme \(case\)/),
    });
  });
});
