import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type MergePlace, mergePlace } from '../../../test/fixtures/merge-repository.ts';
import { writeFiles } from '../../../test/fixtures/temporary.ts';

const check = (command: string) => ({ check: { command, timeoutMs: 60_000 } });
const counted = (place: MergePlace, name: string, command = 'true') =>
  check(`echo >> ${join(place.project, name)}; ${command}`);
const runs = (place: MergePlace, name: string) => readFileSync(join(place.project, name), 'utf8').length;

/** `main` is checked out, and the named branches wait on the private ref, unchecked. */
async function waiting(files: Record<string, Record<string, string>>, first = {}): Promise<MergePlace> {
  const place = mergePlace({ a: '1\n' }, true);
  for (const [name, content] of Object.entries(files)) place.branch(name, content);
  const report = await place.queue({ branches: Object.keys(files), ...first });
  expect(report.kept).not.toBeNull();
  return place;
}

describe('WORK-5: the check on a result that waits', () => {
  test.each([
    ['when the queue is continued', {}],
    ['when its branch is named again', { branches: ['one'] }],
    ['when it would move the checkout', { updateCheckout: true }],
  ])('runs before anything lands, %s', async (_, request) => {
    const place = await waiting({ one: { bad: '1' } });
    const main = place.git('rev-parse', 'main');
    const report = await place.queue({ ...request, ...check('test ! -e bad') });
    expect(place.states(report)).toEqual(['one: failed']);
    expect(report.kept).toBeNull();
    expect(place.git('rev-parse', 'main')).toBe(main);
    expect(place.git('for-each-ref', 'refs/ramet')).toBe('');
  });

  test('lands what passes it, without what does not', async () => {
    const place = await waiting({ one: { b: '1' }, two: { bad: '1' }, three: { c: '1' } });
    const report = await place.queue({ updateCheckout: true, ...check('test ! -e bad') });
    expect(place.states(report)).toEqual(['one: landed', 'two: failed', 'three: landed']);
    expect(place.git('ls-tree', '--name-only', 'main')).toBe('a\nb\nc');
  });

  test('leaves it waiting, and says so, where the check fails on the target itself', async () => {
    const place = await waiting({ one: { b: '1' } });
    const ready = place.git('rev-parse', 'refs/ramet/integration/main');
    place.branch('two', { c: '1' });
    const report = await place.queue({ branches: ['two'], updateCheckout: true, ...check('false') });
    expect(report.entries).toMatchObject([
      { branch: 'one', state: 'integrated', reason: expect.stringContaining('fails on main itself') },
      { branch: 'two', state: 'waiting', reason: expect.stringContaining('fails on main itself') },
    ]);
    expect(place.git('rev-parse', 'refs/ramet/integration/main')).toBe(ready);
    expect(report).toMatchObject({ before: report.after, checkout: null });
    const next = await place.queue({ updateCheckout: true });
    expect(place.states(next)).toEqual(['one: landed', 'two: landed']);
  });

  test('is not run again where the same command has passed on the same commit', async () => {
    const place = mergePlace({ a: '1\n' }, true);
    place.branch('one', { b: '1' });
    const same = counted(place, 'same');
    await place.queue({ branches: ['one'], ...same });
    expect(runs(place, 'same')).toBe(1);
    expect(place.states(await place.queue({ ...same }))).toEqual(['one: integrated']);
    expect(runs(place, 'same')).toBe(1);
    await place.queue({ ...counted(place, 'other') });
    expect(runs(place, 'other')).toBe(1);
    await place.queue({ ...same });
    expect(runs(place, 'same')).toBe(2);
    const end = await place.queue({ updateCheckout: true, ...same });
    expect(place.states(end)).toEqual(['one: landed']);
    expect(runs(place, 'same')).toBe(2);
  });

  test('runs again when the person has committed, because the commit is another', async () => {
    const place = mergePlace({ a: '1\n' }, true);
    place.branch('one', { b: '1' });
    const same = counted(place, 'same', 'test ! -e mine || test ! -e b');
    await place.queue({ branches: ['one'], ...same });
    writeFiles(place.directory, { mine: 'x' });
    place.git('add', '-A');
    place.git('commit', '-qm', 'mine');
    expect(place.states(await place.queue({ ...same }))).toEqual(['one: failed']);
    expect(place.git('for-each-ref', 'refs/ramet')).toBe('');
  });

  test('a result that passed one check is not blamed for another that comes on top', async () => {
    const place = mergePlace({ a: '1\n' }, true);
    place.branch('one', { b: '1' });
    place.branch('two', { bad: '1' });
    const rule = check('test ! -e bad');
    await place.queue({ branches: ['one'], ...rule });
    const report = await place.queue({ branches: ['two'], updateCheckout: true, ...rule });
    expect(place.states(report)).toEqual(['one: landed', 'two: failed']);
  });
});
