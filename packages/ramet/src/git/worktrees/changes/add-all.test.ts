import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryRepository, writeFiles } from '../../../../test/fixtures/temporary.ts';
import { git, gitVariables } from '../../../../test/fixtures/worktrees.ts';
import { addAll, addFailure, leftOutText } from './add-all.ts';

function nested(root: string, folder: string, isCommitted: boolean): void {
  writeFiles(join(root, folder), { 'f.txt': 'inside\n' });
  git(join(root, folder), 'init', '-q');
  if (!isCommitted) return;
  git(join(root, folder), 'add', '--all');
  git(join(root, folder), 'commit', '-qm', 'own');
}

function add(cwd: string): Promise<string[]> {
  return addAll({ cwd, env: gitVariables() }, { settings: [] });
}

describe('WORK-6: repositories inside a worktree', () => {
  test.each([
    ['without a commit', { bare: false }, ['bare']],
    ['with commits', { own: true }, ['own']],
    ['of both kinds', { bare: false, 'deep/own': true }, ['bare', 'deep/own']],
  ])('%s are left out, and everything else is added', async (_, folders, expected) => {
    const root = temporaryRepository({ 'a.txt': 'a\n' });
    for (const [folder, isCommitted] of Object.entries(folders)) nested(root, folder, isCommitted);
    writeFiles(root, { 'new.txt': 'new\n', 'deep/plain.txt': 'plain\n' });
    expect((await add(root)).sort()).toEqual(expected);
    expect(git(root, 'diff', '--cached', '--name-only').split('\n')).toEqual(['deep/plain.txt', 'new.txt']);
    expect((await add(root)).sort()).toEqual(expected);
  });

  test('that are submodules stay in', async () => {
    const root = temporaryRepository({ 'a.txt': 'a\n' });
    nested(root, 'lib', true);
    git(root, '-c', 'advice.addEmbeddedRepo=false', 'add', 'lib');
    expect(await add(root)).toEqual([]);
    expect(git(root, 'diff', '--cached', '--name-only')).toBe('lib');
  });

  test('are named with what happens to their files', () => {
    expect(leftOutText([])).toEqual([]);
    expect(leftOutText(['own'])).toEqual([
      'own is a repository of its own: the files there are not part of the commit; move the .git folder away to commit them',
    ]);
    expect(leftOutText(['a', 'b']).join()).toContain('a, b are repositories of their own: the files there');
  });
});

test('WORK-6: a file that cannot be read is named, with what to do', () => {
  const stderr =
    'error: open("b.txt"): Permission denied\nerror: unable to index file \'b.txt\'\nfatal: adding files failed\n';
  expect(addFailure('/w', stderr).message).toBe(
    'git add failed in /w: b.txt cannot be read (Permission denied): make it readable with chmod u+r, or remove it',
  );
  expect(addFailure('/w', 'fatal: other\n').message).toBe('git add failed in /w: fatal: other');
});
