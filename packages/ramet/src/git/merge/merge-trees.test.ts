import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mergePlace } from '../../../test/fixtures/merge-repository.ts';
import { callIn } from './merge-repository.ts';
import { mergePairs, mergeTrees } from './merge-trees.ts';

const VERSION = { major: 2, minor: 39 };

async function kindsOf(
  files: Record<string, string>,
  ours: Record<string, string | null>,
  theirs: Record<string, string | null>,
): Promise<{ kinds: string[]; files: string[] }> {
  const place = mergePlace(files);
  const pair = [place.branch('ours', ours), place.branch('theirs', theirs)] as const;
  const result = await mergeTrees(pair, callIn(place.repository));
  if (result.clean) return { kinds: [], files: [] };
  expect(await mergePairs([pair], VERSION, callIn(place.repository))).toEqual([result]);
  return { kinds: result.conflicts.map(({ kind }) => kind), files: result.files };
}

const LINES = Array.from({ length: 20 }, (_, line) => `line ${line}\n`).join('');

describe('WORK-5: merging two commits without a working tree', () => {
  test('names the files of a conflict of contents', async () => {
    const found = await kindsOf(
      { 'a b.txt': 'x\n', 'ü.txt': '1\n' },
      { 'a b.txt': 'y\n' },
      { 'a b.txt': 'z\n' },
    );
    expect(found).toEqual({ kinds: ['contents'], files: ['a b.txt'] });
  });

  test('names all places of a file that both renamed', async () => {
    const found = await kindsOf({ old: LINES }, { old: null, one: LINES }, { old: null, two: LINES });
    expect(found).toEqual({ kinds: ['rename/rename'], files: ['old', 'one', 'two'] });
  });

  test('tells a change of a file that the other removed', async () => {
    expect(await kindsOf({ a: 'x\n' }, { a: 'y\n' }, { a: null, b: '1' })).toEqual({
      kinds: ['modify/delete'],
      files: ['a'],
    });
  });

  test('tells two versions of a binary file', async () => {
    const found = await kindsOf({ a: 'x\0x' }, { a: 'y\0y' }, { a: 'z\0z' });
    expect(found.kinds).toContain('binary');
    expect(found.files).toEqual(['a']);
  });

  test('tells a directory where the other has a file', async () => {
    const found = await kindsOf({ a: '1' }, { b: 'file' }, { 'b/c': 'below' });
    expect(found.kinds).toEqual(['file/directory']);
  });

  test('follows a file that one renamed and the other changed', async () => {
    const changed = LINES.replace('line 3', 'line three');
    expect(await kindsOf({ old: LINES }, { old: null, new: LINES }, { old: changed })).toEqual({
      kinds: [],
      files: [],
    });
  });

  test('names that differ in case are two files', async () => {
    expect(await kindsOf({ a: '1' }, { Readme: 'x' }, { README: 'y' })).toEqual({ kinds: [], files: [] });
  });

  test('tells different modes and types of a new file', async () => {
    const place = mergePlace({ a: '1' });
    place.git('switch', '-q', '-c', 'link', 'main');
    symlinkSync('a', join(place.directory, 'b'));
    place.git('add', '-A');
    place.git('commit', '-qm', 'link');
    place.git('switch', '-q', 'desk');
    place.branch('file', { b: 'text' });
    const pair = [place.git('rev-parse', 'link'), place.git('rev-parse', 'file')] as const;
    const result = await mergeTrees(pair, callIn(place.repository));
    expect(result).toMatchObject({ clean: false, conflicts: [{ kind: 'distinct modes' }] });
  });

  test('takes a mode that only one of them changed', async () => {
    const place = mergePlace({ a: LINES });
    place.git('switch', '-q', '-c', 'mode', 'main');
    chmodSync(join(place.directory, 'a'), 0o755);
    place.git('commit', '-qam', 'mode');
    place.git('switch', '-q', 'desk');
    place.branch('text', { a: `${LINES}more\n` });
    const pair = [place.git('rev-parse', 'mode'), place.git('rev-parse', 'text')] as const;
    const { clean, tree } = await mergeTrees(pair, callIn(place.repository));
    expect(clean).toBe(true);
    expect(place.git('ls-tree', tree)).toMatch(/^100755 /);
  });

  test('tells two pointers of one submodule', async () => {
    const place = mergePlace({ a: '1' });
    const id = (digit: string) => digit.repeat(40);
    const point = (branch: string, from: string, digit: string) => {
      place.git('switch', '-q', '-c', branch, from);
      place.git('update-index', '--add', '--cacheinfo', `160000,${id(digit)},sub`);
      place.git('commit', '-qm', branch);
      place.git('switch', '-q', '-f', 'desk');
    };
    point('with', 'main', '1');
    point('two', 'with', '2');
    point('three', 'with', '3');
    const pair = [place.git('rev-parse', 'two'), place.git('rev-parse', 'three')] as const;
    const result = await mergeTrees(pair, callIn(place.repository));
    expect(result).toMatchObject({ clean: false, files: ['sub'] });
    expect(!result.clean && result.conflicts[0]?.kind).toMatch(/submodule/);
  });

  test('a name that stands for nothing is an error and no conflict', async () => {
    const place = mergePlace({ a: '1' });
    const tip = place.git('rev-parse', 'main');
    await expect(mergeTrees([tip, 'nope'], callIn(place.repository))).rejects.toThrow(/nope/);
  });

  test('histories that share nothing are told as such, also among many pairs', async () => {
    const place = mergePlace({ a: '1' });
    place.git('switch', '-q', '--orphan', 'other');
    place.git('commit', '-q', '--allow-empty', '-m', 'other');
    const main = place.git('rev-parse', 'main');
    const other = place.git('rev-parse', 'other');
    await expect(mergeTrees([main, other], callIn(place.repository))).rejects.toThrow(/share no commit/);
    const [first, second] = await mergePairs(
      [
        [main, main],
        [main, other],
      ],
      VERSION,
      callIn(place.repository),
    );
    expect(first?.clean).toBe(true);
    expect(second).toMatchObject({ clean: false, conflicts: [{ kind: 'unrelated histories' }] });
  });

  test('an older git merges many pairs one by one, with the same results', async () => {
    const place = mergePlace({ a: '1' });
    const pairs = [
      [place.branch('x', { a: '2' }), place.branch('y', { a: '3' })],
      [place.branch('u', { b: '2' }), place.branch('v', { c: '3' })],
    ] as const;
    const many = await mergePairs(pairs, VERSION, callIn(place.repository));
    expect(many.map(({ clean }) => clean)).toEqual([false, true]);
    expect(await mergePairs(pairs, { major: 2, minor: 38 }, callIn(place.repository))).toEqual(many);
  });
});
