import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, temporaryRepository } from '../../../test/fixtures/temporary.ts';
import { git, gitVariables } from '../../../test/fixtures/worktrees.ts';
import { findMergeRepository } from './merge-repository.ts';
import { lookAtWorktree, openPrivateWorktree } from './private-worktree.ts';

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
    const look = lookAtWorktree(tree, repository);
    expect((await look?.changes)?.length === 0).toBe(isStanding);
    await openPrivateWorktree(tree, wanted, repository, look);
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
  const look = lookAtWorktree(tree, repository);
  expect(await look?.changes).toEqual([]);
  writeFileSync(at('a'), 'late');
  await openPrivateWorktree(tree, first, repository, look);
  expect(git(tree, 'status', '--porcelain')).toBe('');
});

/** A program that stands before git and runs `lines` first; `real` is the git behind it. */
function gitBehind(folder: string, lines: readonly string[]): Record<string, string> {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const { PATH = '' } = gitVariables();
  const real = `real() { PATH='${PATH}' git "$@"; }`;
  writeFileSync(join(bin, 'git'), `${['#!/bin/sh', real, ...lines, 'real "$@"'].join('\n')}\n`);
  chmodSync(join(bin, 'git'), 0o755);
  return { ...gitVariables(), PATH: `${bin}${delimiter}${PATH}` };
}

describe('WORK-5: the look at a worktree of checks runs beside the writing of the files that differ', () => {
  const wait = (condition: string): string => `until ${condition}; do sleep 0.01; done`;
  /** What git sees depends on how far the other has come. */
  const orders = {
    'the look ends before': { look: ':', write: wait('[ -e looked ]') },
    'the look is at half-way': { look: wait('grep -q $(cat to) "$head"'), write: wait('[ -e looked ]') },
    'the look begins after': { look: wait('[ -e written ]'), write: ':' },
  };
  const left: Record<string, (at: (name: string) => string) => void> = {
    nothing: () => {},
    'a change of a file that differs': (at) => writeFileSync(at('a'), 'left'),
    'a file where a new one comes': (at) => writeFileSync(at('c'), 'left'),
    'a folder where a new one comes': (at) => {
      mkdirSync(at('c/d'), { recursive: true });
      writeFileSync(at('c/d/e'), 'left');
    },
    'a change of another file': (at) => writeFileSync(at('same'), 'left'),
    'a new file in a folder that goes': (at) => writeFileSync(at('folder/left'), 'left'),
    'a change in the index alone': (at) => git(at('.'), 'update-index', '--force-remove', 'same'),
  };

  test.each(Object.keys(orders))('%s', async (order) => {
    const root = temporaryRepository({ a: 'a\n', b: 'b\n', same: 's\n', 'folder/x': 'x\n' });
    const first = git(root, 'rev-parse', 'HEAD');
    const second = commit(root, { a: 'changed\n', b: null, c: 'c\n', 'folder/x': null });
    const folder = temporaryDirectory();
    const tree = join(folder, 'tree');
    const { look, write } = orders[order as keyof typeof orders];
    const env = gitBehind(folder, [
      `here='${folder}'; head='${root}/.git/worktrees/tree/HEAD'; cwd=$PWD; cd "$here"`,
      'step() { cd "$cwd"; real "$@"; code=$?; touch "$here/$mark"; exit $code; }',
      `case "$*" in *status*) mark=looked; ${look}; step "$@";;`,
      `*restore*) mark=written; ${write}; step "$@";;`,
      '*read-tree*) touch again;; esac; cd "$cwd"',
    ]);
    writeFileSync(join(folder, 'to'), second);
    const repository = findMergeRepository(root, env);
    const isAgain: Record<string, boolean> = {};
    for (const [what, leave] of Object.entries(left)) {
      await openPrivateWorktree(tree, first, repository);
      for (const mark of ['again', 'looked', 'written']) rmSync(join(folder, mark), { force: true });
      leave((name) => join(tree, name));
      await openPrivateWorktree(tree, second, repository, lookAtWorktree(tree, repository));
      isAgain[what] = existsSync(join(folder, 'again'));
      expect(git(tree, 'rev-parse', 'HEAD'), what).toBe(second);
      expect(git(tree, 'status', '--porcelain', '--untracked-files=all'), what).toBe('');
      expect(readdirSync(tree).toSorted(), what).toEqual(['.git', 'a', 'c', 'same']);
      const texts = ['a', 'c', 'same'].map((name) => readFileSync(join(tree, name), 'utf8'));
      expect(texts, what).toEqual(['changed\n', 'c\n', 's\n']);
    }
    expect(isAgain).toMatchObject({ nothing: false, 'a change of another file': true });
  });
});

test('WORK-5: before a git locks the index, a note says so for the case that this process is killed', async () => {
  const root = temporaryRepository({ a: 'a\n' });
  const first = git(root, 'rev-parse', 'HEAD');
  const second = commit(root, { a: 'changed\n' });
  const folder = temporaryDirectory();
  const [tree, seen] = [join(folder, 'tree'), join(folder, 'seen')];
  // Keeps the notes that are there while git changes the index.
  const variables = gitBehind(folder, [
    `case "$*" in *read-tree*|*restore*) cat '${root}'/.git/ramet/locks-*.json >> '${seen}'; echo >> '${seen}';; esac`,
  ]);
  const repository = findMergeRepository(root, variables);
  await openPrivateWorktree(tree, first, repository);
  await openPrivateWorktree(tree, second, repository, lookAtWorktree(tree, repository));
  const notes = readFileSync(seen, 'utf8').trim().split('\n');
  expect(notes.map((note) => JSON.parse(note))).toEqual([
    expect.objectContaining({ pid: process.pid, files: ['worktrees/tree/index'] }),
    expect.objectContaining({ pid: process.pid, files: ['worktrees/tree/index'] }),
  ]);
});
