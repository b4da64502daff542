import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory, temporaryRepository } from '../../../test/fixtures/temporary.ts';
import { git, gitVariables } from '../../../test/fixtures/worktrees.ts';
import { findMergeRepository } from './merge-repository.ts';
import { openPrivateWorktree, standingCommit } from './private-worktree.ts';

function commit(root: string, files: Record<string, string | null>): string {
  for (const [name, text] of Object.entries(files))
    if (text === null) rmSync(join(root, name));
    else writeFileSync(join(root, name), text);
  git(root, 'add', '--all');
  git(root, 'commit', '--quiet', '--message=next');
  return git(root, 'rev-parse', 'HEAD');
}

test('a worktree of checks is exactly the commit before each use, whatever the last check left there', async () => {
  const root = temporaryRepository({ a: 'a\n', b: 'b\n', '.gitignore': 'cache\n' });
  const first = git(root, 'rev-parse', 'HEAD');
  const second = commit(root, { a: 'changed\n', b: null, c: 'c\n' });
  const third = commit(root, { '.gitignore': 'other\n' });
  const repository = findMergeRepository(root, gitVariables());
  const tree = join(temporaryDirectory(), 'tree');
  const at = (name: string): string => join(tree, name);
  const open = async (wanted: string, isStanding: boolean): Promise<void> => {
    const standing = await standingCommit(tree, repository);
    expect(standing !== null).toBe(isStanding);
    await openPrivateWorktree(tree, wanted, repository, standing);
    expect(git(tree, 'rev-parse', 'HEAD')).toBe(wanted);
    expect(git(tree, 'status', '--porcelain')).toBe('');
  };
  await open(first, false);
  writeFileSync(at('cache'), 'kept');
  await open(second, true);
  expect([readFileSync(at('a'), 'utf8'), existsSync(at('b')), existsSync(at('cache'))]).toEqual([
    ...['changed\n', false, true],
  ]);
  writeFileSync(at('left'), 'behind');
  await open(first, false);
  writeFileSync(at('b'), 'edited');
  await open(second, false);
  git(tree, 'update-index', '--force-remove', 'a');
  await open(first, false);
  // What was ignored is not any more.
  await open(second, true);
  await open(third, true);
  expect(existsSync(at('cache'))).toBe(false);
  // Something was written after the look.
  const standing = await standingCommit(tree, repository);
  writeFileSync(at('a'), 'late');
  await openPrivateWorktree(tree, first, repository, standing);
  expect(git(tree, 'status', '--porcelain')).toBe('');
});

test('WORK-5: before a git locks the index, a note says so for the case that this process is killed', async () => {
  const root = temporaryRepository({ a: 'a\n' });
  const first = git(root, 'rev-parse', 'HEAD');
  const second = commit(root, { a: 'changed\n' });
  const folder = temporaryDirectory();
  const [tree, bin, seen] = ['tree', 'bin', 'seen'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(bin);
  const { PATH = '' } = gitVariables();
  // Stands before git and keeps the notes that are there while a tree is read.
  const script = [
    '#!/bin/sh',
    `case "$*" in *read-tree*) cat '${root}'/.git/ramet/locks-*.json >> '${seen}'; echo >> '${seen}';; esac`,
    `PATH='${PATH}' exec git "$@"`,
  ];
  writeFileSync(join(bin, 'git'), `${script.join('\n')}\n`);
  chmodSync(join(bin, 'git'), 0o755);
  const variables = { ...gitVariables(), PATH: `${bin}${delimiter}${PATH}` };
  const repository = findMergeRepository(root, variables);
  await openPrivateWorktree(tree, first, repository);
  await openPrivateWorktree(tree, second, repository, await standingCommit(tree, repository));
  const notes = readFileSync(seen, 'utf8').trim().split('\n');
  expect(notes.map((note) => JSON.parse(note))).toEqual([
    expect.objectContaining({ pid: process.pid, files: ['worktrees/tree/index'] }),
    expect.objectContaining({ pid: process.pid, files: ['worktrees/tree/index'] }),
  ]);
});
