import { describe, expect, test } from 'vitest';
import { type GitState, RecentGitState } from './git-state.ts';

function reading(): { git: RecentGitState; reads: string[]; wait(ms: number): void } {
  const reads: string[] = [];
  let now = 0;
  const read = async (directory: string): Promise<GitState> => {
    reads.push(directory);
    return { known: true, branch: `read-${reads.length}`, head: null, changes: [], more: 0 };
  };
  const git = new RecentGitState(read, () => now);
  return {
    git,
    reads,
    wait(ms) {
      now += ms;
    },
  };
}

describe('agents that start together are told the same state of git', () => {
  test('it is read once for all that ask within a second', async () => {
    const { git, reads, wait } = reading();
    const first = git.of('/a');
    wait(999);
    expect(await git.of('/a')).toBe(await first);
    wait(2);
    expect(await git.of('/a')).toMatchObject({ branch: 'read-2' });
    expect(reads).toHaveLength(2);
  });

  test('it is read again once something may have changed it, and for another directory', async () => {
    const { git, reads } = reading();
    await git.of('/a');
    git.forget();
    await git.of('/a');
    await git.of('/b');
    expect(reads).toEqual(['/a', '/a', '/b']);
  });

  test('what another caller has just read is not read again', async () => {
    const { git, reads } = reading();
    const state: GitState = { known: false, reason: 'no git' };
    await git.note('/a', Promise.resolve(state));
    expect(await git.of('/a')).toBe(state);
    expect(reads).toEqual([]);
  });
});
