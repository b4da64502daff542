import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, temporaryRepository } from '../../test/fixtures/temporary.ts';
import { git } from '../../test/fixtures/worktrees.ts';
import { gitDirectoryOf, readHead, readRef } from './read-refs.ts';

describe('refs read from files', () => {
  test('are where git says they are: on a branch, detached, packed, symbolic, in a worktree', () => {
    const root = temporaryRepository();
    const common = join(root, '.git');
    const commit = git(root, 'rev-parse', 'HEAD');
    expect(readHead(common, common)).toEqual({ ref: 'refs/heads/main', commit });
    git(root, 'symbolic-ref', 'refs/heads/alias', 'refs/heads/main');
    expect(readRef(common, 'refs/heads/alias')).toBe(commit);
    git(root, 'branch', 'mainly');
    git(root, 'pack-refs', '--all', '--prune');
    expect(readHead(common, common)).toEqual({ ref: 'refs/heads/main', commit });
    git(root, 'checkout', '-q', '--detach');
    expect(readHead(common, common)).toEqual({ ref: null, commit });
    const tree = join(temporaryDirectory(), 'tree');
    git(root, 'worktree', 'add', '-q', tree, 'mainly');
    expect(gitDirectoryOf(tree)).toBe(join(common, 'worktrees/tree'));
    expect(readHead(join(common, 'worktrees/tree'), common)).toEqual({ ref: 'refs/heads/mainly', commit });
  });

  test('are not known before the first commit, in another storage, or in a file that is no ref', () => {
    const root = temporaryDirectory();
    git(root, 'init', '-q');
    const common = join(root, '.git');
    expect(readHead(common, common)).toBeNull();
    for (const text of ['ref: refs/heads/.invalid\n', 'ref: refs/heads/../../ORIG_HEAD\n', 'broken', '']) {
      writeFileSync(join(common, 'HEAD'), text);
      expect(readHead(common, common)).toBeNull();
    }
  });
});
