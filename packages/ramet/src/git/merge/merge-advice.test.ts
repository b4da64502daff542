import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type MergePlace, mergePlace } from '../../../test/fixtures/merge-repository.ts';
import { runSync } from '../../../test/fixtures/run-sync.ts';
import { temporaryDirectory, writeFiles } from '../../../test/fixtures/temporary.ts';
import { listedEntries, withAdvice } from './merge-advice.ts';
import { findMergeRepository, type MergeRepository } from './merge-repository.ts';
import type { MergeReport } from './merge-request.ts';

/** Does what the report says about `branch`, word for word, in `repository`. */
async function follow(
  place: MergePlace,
  report: MergeReport,
  branch: string,
  repository: MergeRepository = place.repository,
): Promise<MergeReport | null> {
  const reason = report.entries.find((entry) => entry.branch === branch)?.reason ?? '';
  const steps = reason.split('to resolve it: ')[1]?.split('; ') ?? [];
  let folder = repository.cwd;
  let end: MergeReport | null = null;
  for (const step of steps) {
    const named = /^git -C ('[^']+'|\S+)/.exec(step)?.[1]?.replaceAll("'", '');
    if (named !== undefined) folder = resolve(repository.cwd, named);
    if (step === 'edit the files') writeFileSync(join(folder, 'a'), 'both\n');
    const [, name = '', target] = /^ramet merge (\S+) --into (\S+)$/.exec(step) ?? [];
    if (target !== undefined) end = await place.queue({ branches: [name], target }, { repository });
    if (step.startsWith('git ')) run(repository, step);
  }
  return end;
}

/** A merge that conflicts ends with 1, as it should: one that finds nothing to do ends with 0. */
function run({ cwd, env }: MergeRepository, command: string): void {
  const shell = / merge /.test(command) ? `${command}; test $? = 1` : command;
  runSync('sh', ['-c', shell], { cwd, env: { ...env } });
}

/** The last report says how to take what waits. */
function take(place: MergePlace, report: MergeReport | null): void {
  if (report?.kept) place.git('merge', '-q', '--ff-only', '--autostash', report.kept.ref);
}

const two = (report: MergeReport | null) => report?.entries.find(({ branch }) => branch === 'two')?.state;

describe('WORK-5: the list of a queue', () => {
  test('reports a result that a person has taken with git as landed', async () => {
    const place = mergePlace({ a: '1\n' }, true);
    place.branch('one', { b: '2\n' });
    place.branch('two', { c: '3\n' });
    take(place, await place.queue({ branches: ['one'] }));
    await place.queue({ branches: ['two'] });
    const listed = await listedEntries(place.entries.list(), place.repository);
    expect(listed.map(({ branch, state }) => `${branch}: ${state}`)).toEqual([
      'one: landed',
      'two: integrated',
    ]);
    take(place, await place.queue({ branches: ['two'] }));
    const after = await listedEntries(place.entries.list(), place.repository);
    expect(after.map(({ state }) => state)).toEqual(['landed', 'landed']);
  });
});

describe('WORK-5: the advice after a conflict leads to a branch that has landed', () => {
  test.each([
    ['the target has landed and is checked out nowhere', false],
    ['the target is checked out and the result waits', true],
  ])('where %s', async (_, stay) => {
    const place = mergePlace({ a: '1\n' }, stay);
    place.branch('one', { a: '2\n' });
    place.branch('two', { a: '3\n' });
    const report = await place.queue({ branches: ['one', 'two'] });
    expect(report.entries[1]?.reason).toContain(
      stay ? 'git merge refs/ramet/integration/main' : 'git merge main',
    );
    const end = await follow(place, report, 'two');
    expect(two(end)).toBe('landed');
    expect(place.git('show', 'main:a')).toBe('both');
    expect(place.git('log', '--format=%s', 'main')).toContain('work on one');
  });

  test.each([
    ['is checked out and the result waits', true],
    ['is free', false],
  ])('where the branch is in a worktree, with a space in its path, and the target %s', async (_, stay) => {
    const place = mergePlace({ a: '1\n' }, stay);
    place.branch('one', { a: '2\n' });
    place.branch('two', { a: '3\n' });
    const worktree = join(temporaryDirectory(), 'of an agent');
    place.git('worktree', 'add', '-q', worktree, 'two');
    const report = await place.queue({ branches: ['one', 'two'] });
    expect(report.entries[1]?.reason).toContain(`git -C '${worktree}' merge `);
    const end = await follow(place, report, 'two');
    expect(two(end)).toBe(stay ? 'integrated' : 'landed');
    take(place, end);
    expect(place.git('show', 'main:a')).toBe('both');
  });

  test('where it conflicts with the target itself, before anything else', async () => {
    const place = mergePlace({ a: '1\n' }, true);
    place.branch('two', { a: '3\n' });
    writeFiles(place.directory, { a: '2\n' });
    place.git('commit', '-qam', 'mine');
    const report = await place.queue({ branches: ['two'] });
    expect(report.entries[0]?.reason).toContain('git merge main');
    expect(two(await follow(place, report, 'two'))).toBe('landed');
  });

  test.each([
    ['changed the same file and did not commit it', { a: 'mine\n' }],
    ['has an unknown file that the branch has too', { b: 'mine\n' }],
  ])('where the user %s', async (_, mine) => {
    const place = mergePlace({ a: '1\n' }, true);
    place.branch('one', { a: '2\n' });
    place.branch('ramet/q', { a: '3\n', b: '3\n' });
    writeFiles(place.directory, mine);
    const report = await place.queue({ branches: ['one', 'ramet/q'] });
    const end = await follow(place, report, 'ramet/q');
    expect(end?.entries.map(({ state }) => state)).toContain('integrated');
    expect(end?.kept?.ref).toBe('refs/ramet/integration/main');
    expect(place.git('show', `${end?.kept?.ref}:a`)).toBe('both');
    expect(place.git('symbolic-ref', 'HEAD')).toBe('refs/heads/main');
    expect(place.git('worktree', 'list').split('\n')).toHaveLength(1);
    for (const [name, text] of Object.entries(mine))
      expect(readFileSync(join(place.directory, name), 'utf8')).toBe(text);
  });

  test('where the user is in the middle of a rebase', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { a: '2\n' });
    place.branch('two', { a: '3\n' });
    place.git('commit', '-q', '--allow-empty', '-m', 'empty');
    // Stops with the files as they are committed.
    place.git('-c', 'sequence.editor=sed -i 1ibreak', 'rebase', '-q', '-i', 'HEAD~1');
    const report = await place.queue({ branches: ['one', 'two'] });
    expect(two(await follow(place, report, 'two'))).toBe('landed');
  });

  test('where the worktree of the branch has uncommitted changes of the same file, which stay', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { a: '2\n' });
    place.branch('two', { a: '3\n', b: '3\n' });
    const worktree = join(temporaryDirectory(), 'two');
    place.git('worktree', 'add', '-q', worktree, 'two');
    writeFiles(worktree, { b: 'not committed\n' });
    const report = await place.queue({ branches: ['one', 'two'] });
    expect(two(await follow(place, report, 'two'))).toBe('landed');
    expect(place.git('show', 'main:b')).toBe('3');
    expect(readFileSync(join(worktree, 'b'), 'utf8')).toBe('not committed\n');
  });

  test('where a commit is meant that no branch holds', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { a: '2\n' });
    const tip = place.branch('gone', { a: '3\n' });
    place.git('branch', '-D', '-q', 'gone');
    const report = await place.queue({ branches: ['one', tip] });
    const end = await follow(place, report, tip);
    expect(end?.entries).toMatchObject([{ state: 'landed' }]);
    expect(place.git('show', 'main:a')).toBe('both');
  });

  test('in a bare repository', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { a: '2\n' });
    place.branch('two', { a: '3\n' });
    const bare = join(temporaryDirectory(), 'bare.git');
    place.git('clone', '-q', '--bare', place.directory, bare);
    const repository = findMergeRepository(bare, place.repository.env);
    const report = await place.queue({ branches: ['one', 'two'] }, { repository });
    expect(two(await follow(place, report, 'two', repository))).toBe('landed');
  });

  test('with the options of the run, quoted for a shell', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { a: '2\n' });
    place.branch('two', { a: '3\n' });
    const check = { command: "test 'x y' && true", timeoutMs: 60_000 };
    const asked = { branches: ['one', 'two'], strategy: 'squash', check, updateCheckout: true } as const;
    const { entries } = await place.queue(asked);
    expect(entries[1]?.reason).toMatch(
      /; ramet merge two --into main --strategy squash --check 'test '\\''x y'\\'' && true' --check-seconds 60 --update-checkout$/,
    );
    const wishes = place.entries.wishes('refs/heads/main') ?? '';
    const [, told] = await withAdvice(place.entries.list(), place.repository, {
      wishesOf: () => JSON.parse(wishes),
    });
    expect(told?.reason).toBe(entries[1]?.reason);
  });

  test('is worked out again when it is asked for later: the ref that held the other side may be gone', async () => {
    const place = mergePlace({ a: '1\n' }, true);
    place.branch('one', { a: '2\n' });
    place.branch('two', { a: '3\n' });
    await place.queue({ branches: ['one', 'two'] });
    await place.queue({ updateCheckout: true });
    const [, told] = await withAdvice(place.entries.list(), place.repository);
    expect(told?.reason).toContain('git merge main;');
  });
});

describe('WORK-3: a branch whose work is not committed', () => {
  test('says so, with the command that commits it', async () => {
    const place = mergePlace({ a: '1\n' });
    place.git('branch', 'idle', 'main');
    const worktree = join(temporaryDirectory(), 'idle');
    place.git('worktree', 'add', '-q', worktree, 'idle');
    expect((await place.queue({ branches: ['idle'] })).entries[0]?.reason).toBe('main has it already');
    writeFiles(worktree, { a: '2\n', new: 'x' });
    expect((await place.queue({ branches: ['idle'] })).entries[0]?.reason).toBe(
      `main has it already; its worktree ${worktree} has 2 uncommitted files, which no merge takes: ramet worktree commit idle; ramet merge idle --into main`,
    );
  });
});
