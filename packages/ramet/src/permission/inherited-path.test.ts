import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { inheritedPath } from './inherited-path.ts';

function folders() {
  const base = temporaryDirectory();
  const at = (...names: string[]): string => join(base, ...names);
  for (const name of [
    'repo/src',
    'repo/shared',
    'repo/.git',
    'repo/.home/worktrees/w',
    'repo-2',
    'home/worktrees/w/src',
  ])
    mkdirSync(at(name), { recursive: true });
  writeFileSync(at('repo/src/a.ts'), '1');
  symlinkSync(at('repo'), at('link'));
  symlinkSync(at('repo/src'), at('src-link'));
  symlinkSync(at('repo/src'), at('home/worktrees/w/linked'));
  symlinkSync(at('repo/shared'), at('home/worktrees/w/shared'));
  return { at, root: at('home/worktrees/w'), from: at('repo') };
}

describe('FORK-6: the path that is meant by one of the parent', () => {
  test.each([
    ['repo/src/a.ts', 'src/a.ts'],
    ['repo', ''],
    ['repo/src/../src//a.ts', 'src/a.ts'],
    ['repo/not/there', 'not/there'],
    ['repo/src/**/*.ts', 'src/**/*.ts'],
    ['link/src/a.ts', 'src/a.ts'],
    ['link/not/there', 'not/there'],
    ['src-link/a.ts', 'src/a.ts'],
    ['home/worktrees/w/linked/a.ts', 'src/a.ts'],
  ])('%s is the same below the worktree', (path, expected) => {
    const { at, root, from } = folders();
    expect(inheritedPath({ root, from }, at(path), root)).toBe(join(root, expected));
  });

  test.each([
    'repo-2/a',
    'repo/.git/config',
    'home/worktrees/w/src/a.ts',
    'home/worktrees/w/shared/a.ts',
    'x',
  ])('%s is what it is', (path) => {
    const { at, root, from } = folders();
    expect(inheritedPath({ root, from }, at(path), root)).toBeNull();
  });

  test('relative paths are meant from where the agent is', () => {
    const { root, from } = folders();
    expect(inheritedPath({ root, from }, 'src/a.ts', root)).toBeNull();
    expect(inheritedPath({ root, from }, '../../../repo/src/a.ts', root)).toBe(join(root, 'src/a.ts'));
  });

  test('a worktree inside the checkout, and what else Ramet keeps there, is not the checkout', () => {
    const { at, from } = folders();
    const root = at('repo/.home/worktrees/w');
    const places = { root, from, home: at('repo/.home') };
    expect(inheritedPath(places, join(root, 'src/a.ts'), root)).toBeNull();
    expect(inheritedPath(places, at('repo/.home/projects/x/out.txt'), root)).toBeNull();
    expect(inheritedPath(places, at('repo/src/a.ts'), root)).toBe(join(root, 'src/a.ts'));
  });

  test('a worktree made from a worktree knows the paths of both', () => {
    const { at, root, from } = folders();
    const places = { root, from: at('home/worktrees/first'), inherited: [from] };
    expect(inheritedPath(places, at('repo/a'), root)).toBe(join(root, 'a'));
    expect(inheritedPath(places, at('home/worktrees/first/a'), root)).toBe(join(root, 'a'));
  });
});
