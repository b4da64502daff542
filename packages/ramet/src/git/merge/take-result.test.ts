import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type MergePlace, mergePlace } from '../../../test/fixtures/merge-repository.ts';
import { runSync } from '../../../test/fixtures/run-sync.ts';
import { temporaryDirectory, writeFiles } from '../../../test/fixtures/temporary.ts';
import type { MergeReport } from './merge-request.ts';

/** Does what the report says, word for word. */
function follow({ repository }: MergePlace, { kept }: MergeReport): void {
  const [way = ''] = (kept?.take ?? '').split('or with:');
  const steps = way.split('\n').filter((line) => line.startsWith('  '));
  expect(steps.length).toBeGreaterThan(0);
  for (const step of steps) runSync('sh', ['-c', step], { cwd: repository.cwd, env: { ...repository.env } });
}

const LINES = '1\n2\n3\n4\n5\n6\n7\n8\n9\n';
const BY_RAMET = '--update-checkout';

describe('WORK-5: a result that waits is taken as the report says', () => {
  const waiting = async (
    mine: Record<string, string>,
    updateCheckout: boolean,
  ): Promise<[MergePlace, MergeReport]> => {
    const place = mergePlace({ a: LINES }, true);
    place.branch('one', { a: LINES.replace('1', 'one'), 'it is new': 'new\n', 'b/c': 'new\n' });
    writeFiles(place.directory, mine);
    await place.queue({ branches: ['one'] });
    return [place, await place.queue({ updateCheckout })];
  };
  const read = (place: MergePlace, name: string): string => readFileSync(join(place.directory, name), 'utf8');

  test.each([false, true])('over a change of the same file, which stays (%s)', async (updateCheckout) => {
    const [place, report] = await waiting({ a: LINES.replace('9', 'mine') }, updateCheckout);
    expect(report.kept?.take).not.toContain(BY_RAMET);
    follow(place, report);
    expect(place.git('rev-parse', 'main')).toBe(report.kept?.commit);
    expect(read(place, 'a')).toBe(LINES.replace('1', 'one').replace('9', 'mine'));
  });

  test('over a change of the same line, which is in the stash, as the report says', async () => {
    const [place, report] = await waiting({ a: LINES.replace('1', 'mine') }, true);
    expect(report.kept?.take).toContain('keeps those that conflict in git stash');
    follow(place, report);
    expect(place.git('rev-parse', 'main')).toBe(report.kept?.commit);
    expect(place.git('show', 'stash@{0}:a')).toContain('mine');
  });

  test.each([
    ['that is a folder there', true, { b: 'mine\n' }],
    ['in a folder that is a file there', false, { 'it is new/d': 'mine\n' }],
    ['of the same name, beside a change', true, { 'it is new': 'mine\n', a: LINES.replace('9', 'mine') }],
    ['whose new name is in use', false, { 'it is new': 'mine\n', 'it is new.mine': 'older\n' }],
  ])('over a file that git does not know, %s', async (_, updateCheckout, mine) => {
    const [place, report] = await waiting(mine, updateCheckout);
    expect(report.kept?.take).not.toContain(BY_RAMET);
    follow(place, report);
    expect(place.git('rev-parse', 'main')).toBe(report.kept?.commit);
    const unknown = place.git('ls-files', '--others').split('\n');
    expect(unknown.map((file) => read(place, file))).toContain('mine\n');
    expect(read(place, 'it is new')).toBe('new\n');
    if ('a' in mine) expect(read(place, 'a')).toBe(LINES.replace('1', 'one').replace('9', 'mine'));
    if ('it is new.mine' in mine) expect(read(place, 'it is new.mine')).toBe('older\n');
  });
});

test('WORK-5: over many files that git does not know, which are in the stash with the changes', async () => {
  const place = mergePlace({ a: '1\n' }, true);
  const names = ['b', 'c', 'd', 'e', 'f', 'g'];
  place.branch('one', Object.fromEntries(names.map((name) => [name, 'new\n'])));
  writeFiles(place.directory, { a: 'mine\n', ...Object.fromEntries(names.map((name) => [name, 'mine\n'])) });
  const report = await place.queue({ branches: ['one'] });
  expect(report.kept?.take).toContain('your files and changes are then in git stash');
  follow(place, report);
  expect(place.git('rev-parse', 'main')).toBe(report.kept?.commit);
  expect(place.git('show', 'stash@{0}^3:g')).toBe('mine');
  expect(place.git('show', 'stash@{0}:a')).toBe('mine');
});

test('WORK-5: a result for another worktree is taken there', async () => {
  const place = mergePlace({ a: '1\n' });
  const other = join(temporaryDirectory(), 'of mine');
  place.git('worktree', 'add', '-q', other, 'main');
  place.branch('one', { b: '1\n' });
  const report = await place.queue({ branches: ['one'] });
  expect(report.kept?.take).toContain(`git -C '${other}' merge`);
  expect(report.kept?.take).toContain(`or with:\n  ramet merge --continue --into main ${BY_RAMET}`);
  follow(place, report);
  expect(place.git('rev-parse', 'main')).toBe(report.kept?.commit);
  expect(place.git('symbolic-ref', 'HEAD')).toBe('refs/heads/desk');
});

test('WORK-5: a merge that is under way in the checkout comes first', async () => {
  const place = mergePlace({ a: '1\n' }, true);
  place.branch('one', { b: '1\n' });
  place.branch('theirs', { a: '2\n' });
  place.git('merge', '-q', '--no-ff', '--no-commit', 'theirs');
  const report = await place.queue({ branches: ['one'] });
  expect(report.kept?.take).toMatch(
    /^finish or abort what git is doing in .* \(git status says what\); take it with:\n {2}git merge/,
  );
  place.git('merge', '--abort');
  follow(place, report);
  expect(place.git('rev-parse', 'main')).toBe(report.kept?.commit);
});
