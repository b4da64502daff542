import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { temporaryRepository, writeFiles } from '../../test/fixtures/temporary.ts';
import { git, gitVariables } from '../../test/fixtures/worktrees.ts';
import { keepWork, unreadableObject } from './changed-paths.ts';

const SPOILED: Record<string, { spoil: (file: string) => void; what: RegExp }> = {
  missing: { spoil: () => {}, what: /./ },
  empty: { spoil: (file) => writeFileSync(file, ''), what: /./ },
  'no object': { spoil: (file) => writeFileSync(file, 'x'.repeat(99)), what: /./ },
  'cut off': {
    spoil: (file) => writeFileSync(file, deflateSync('blob 5\0goo').subarray(0, 12)),
    what: /./,
  },
  'of another content': {
    spoil: (file) => writeFileSync(file, deflateSync('blob 5\0evil\n')),
    what: /^good\.txt: object [0-9a-f]{40} has the content of another$/,
  },
};

test('OP-9: an object of a commit that git cannot read is found, and one that is not what its name says', async () => {
  const cwd = temporaryRepository({ 'README.md': '# Start\n' });
  const call = { cwd, env: gitVariables() };
  const from = git(cwd, 'rev-parse', 'HEAD');
  writeFiles(cwd, { 'good.txt': 'good\n', 'large.bin': 'x'.repeat(300_000) });
  git(cwd, 'add', '--all');
  git(cwd, 'commit', '--quiet', '--message=work');
  const to = git(cwd, 'rev-parse', 'HEAD');
  expect(await unreadableObject({ from, to }, call)).toBeNull();
  expect(await unreadableObject({ from, to: from }, call)).toBeNull();
  const id = git(cwd, 'rev-parse', 'HEAD:good.txt');
  const file = join(cwd, '.git/objects', id.slice(0, 2), id.slice(2));
  for (const [how, { spoil, what }] of Object.entries(SPOILED)) {
    rmSync(file, { recursive: true, force: true });
    spoil(file);
    expect(await unreadableObject({ from, to }, call), how).toMatchObject({
      ...{ id, what: expect.stringMatching(what) },
    });
  }
});

test('OP-2: work that a killed process had kept is the same commit when it is taken again; other work is another', async () => {
  const cwd = temporaryRepository({ 'README.md': '# Start\n' });
  const base = git(cwd, 'rev-parse', 'HEAD');
  const treeWith = (text: string): string => {
    writeFiles(cwd, { 'new.txt': text });
    git(cwd, 'add', '--all');
    return git(cwd, 'write-tree');
  };
  const [tree, other] = [treeWith('one\n'), treeWith('two\n')];
  const keepAt = (hour: number, files: string): Promise<string> => {
    const env = { ...gitVariables(), GIT_COMMITTER_DATE: `2026-01-01T0${hour}:00:00Z` };
    return keepWork({ ref: 'refs/ramet/attempts/x/T1-1', base, tree: files, message: 'work' }, { cwd, env });
  };
  const first = await keepAt(1, tree);
  expect(await keepAt(2, tree)).toBe(first);
  const second = await keepAt(3, other);
  expect(second).not.toBe(first);
  expect(git(cwd, 'rev-parse', 'refs/ramet/attempts/x/T1-1')).toBe(second);
});
