import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { runSync } from '../../test/fixtures/run-sync.ts';
import { test } from '../../test/fixtures/temporary-directory.ts';
import { findRepository } from './repository.ts';

const IDENTITY = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'commit.gpgsign=false'];

function git(cwd: string, ...args: string[]): void {
  runSync('git', [...IDENTITY, ...args], { cwd });
}

describe('findRepository', () => {
  test('finds the root from any directory below it, also through a symlink', ({ directory }) => {
    git(directory, 'init', '-q', 'repo');
    mkdirSync(join(directory, 'repo/a/b'), { recursive: true });
    symlinkSync('repo/a', join(directory, 'link'));
    const expected = { root: join(directory, 'repo'), commonDirectory: join(directory, 'repo/.git') };
    expect(findRepository(join(directory, 'repo/a/b'))).toEqual(expected);
    expect(findRepository(join(directory, 'link'))).toEqual(expected);
  });

  test('gives a worktree its own root and the shared directory', ({ directory }) => {
    git(directory, 'init', '-q', 'repo');
    const main = join(directory, 'repo');
    git(main, 'commit', '-q', '--allow-empty', '-m', 'first');
    git(main, 'worktree', 'add', '-q', '--detach', join(directory, 'tree'));
    expect(findRepository(join(directory, 'tree'))).toEqual({
      root: join(directory, 'tree'),
      commonDirectory: join(main, '.git'),
    });
  });

  test('takes a git directory that lies elsewhere, as a submodule has it', ({ directory }) => {
    git(directory, 'init', '-q', `--separate-git-dir=${join(directory, 'elsewhere')}`, 'repo');
    expect(findRepository(join(directory, 'repo'))?.commonDirectory).toBe(join(directory, 'elsewhere'));
  });

  test('says null outside a repository and in a directory that does not exist', ({ directory }) => {
    expect(findRepository(directory)).toBeNull();
    expect(findRepository(join(directory, 'missing'))).toBeNull();
  });

  test('sees none where `.git` is a circle of links', ({ directory }) => {
    symlinkSync('.git', join(directory, '.git'));
    expect(findRepository(directory)).toBeNull();
  });

  test('passes by a `.git` directory that is none', ({ directory }) => {
    git(directory, 'init', '-q', '.');
    mkdirSync(join(directory, 'inner/.git'), { recursive: true });
    expect(findRepository(join(directory, 'inner'))?.root).toBe(directory);
  });

  test('does not fall back to the outer repository when a worktree has lost its directory', ({
    directory,
  }) => {
    git(directory, 'init', '-q', '.');
    mkdirSync(join(directory, 'inner'));
    writeFileSync(join(directory, 'inner/.git'), 'gitdir: /nowhere/at/all\n');
    expect(findRepository(join(directory, 'inner'))).toBeNull();
    rmSync(join(directory, 'inner/.git'));
    expect(findRepository(join(directory, 'inner'))?.root).toBe(directory);
  });
});
