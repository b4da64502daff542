import { describe, expect, test } from 'vitest';
import type { ManagedWorktree, VerdictReason } from '../git/worktrees/worktree.ts';
import { refusedRemoval } from './refused-removal.ts';

const TREE = {
  name: 'fix',
  branch: 'ramet/fix',
  id: 'fix-1',
  owner: { session: 'abcdefgh', agent: 'abcdefgh.2' },
} as ManagedWorktree; // the text names these alone

const COMMITS: VerdictReason = { kind: 'commits', text: '2 commits that are not merged, at 0123', count: 2 };
const CHANGED: VerdictReason = { kind: 'changed', text: 'changed and not committed: a, b', count: 2 };
const UNTRACKED: VerdictReason = { kind: 'untracked', text: 'not known to git: c', count: 1 };

describe('WORK-3: the refusal to remove a worktree', () => {
  test('names what it holds, how to keep it, and where --force leaves it', () => {
    expect(refusedRemoval(TREE, [COMMITS, CHANGED, UNTRACKED], false)).toBe(
      'fix stays: 2 commits that are not merged, at 0123; changed and not committed: a, b; not known to git: c. ' +
        'To keep the work: ramet worktree commit fix, then ramet merge ramet/fix. ' +
        'To remove it and leave 2 commits on ramet/fix and 3 files on refs/ramet/wip/abcdefgh.2: ramet worktree rm --force fix',
    );
  });

  test('asks for a commit only where there are files to commit', () => {
    const text = refusedRemoval(TREE, [COMMITS], false);
    expect(text).toContain(
      'To keep the work: ramet merge ramet/fix. To remove it and leave 2 commits on ramet/fix: ',
    );
    expect(text).not.toContain('worktree commit');
  });

  test('commits without a branch are left on the ref of its work', () => {
    const detached: VerdictReason = {
      kind: 'detached',
      text: '1 commit without a branch, at 0123',
      count: 1,
    };
    expect(refusedRemoval({ ...TREE, branch: null }, [detached], false)).toBe(
      'fix stays: 1 commit without a branch, at 0123. To remove it and leave 1 commit on refs/ramet/wip/abcdefgh.2: ramet worktree rm --force fix',
    );
  });

  test('commits without a branch are never told as commits of its branch', () => {
    const tip = '08bab79'.padEnd(40, '0');
    const detached: VerdictReason = { kind: 'detached', text: '1 commit without a branch', count: 1, tip };
    expect(refusedRemoval(TREE, [detached], false)).toBe(
      `fix stays: 1 commit without a branch. To keep the work: ramet merge ${tip}. To remove it and leave 1 commit on refs/ramet/wip/abcdefgh.2: ramet worktree rm --force fix`,
    );
    const both = refusedRemoval(TREE, [COMMITS, detached, UNTRACKED], false);
    expect(both).toContain(
      'ramet worktree commit fix, then ramet merge ramet/fix COMMIT (as that names it). ',
    );
    expect(both).toContain('2 commits on ramet/fix and 1 commit and 1 file on refs/ramet/wip/abcdefgh.2: ');
  });

  test('offers nothing that would be refused as well', () => {
    const used: VerdictReason = { kind: 'in_use', text: 'in use by process 7' };
    expect(refusedRemoval(TREE, [used, CHANGED], false)).toBe(
      'fix stays: in use by process 7; changed and not committed: a, b',
    );
    expect(refusedRemoval(TREE, [used], true)).toBe('fix stays: in use by process 7');
  });
});
