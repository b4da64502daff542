import { describe, expect, test } from 'vitest';
import { type MergePlace, mergePlace } from '../../../../test/fixtures/merge-repository.ts';
import { madeRun, madeTask, startedRun, taskChange } from '../../../../test/fixtures/operator-run.ts';
import type { OperatorState } from '../../../operator/run/operator-state.ts';
import type { TaskChanged } from '../../../schema/operator-events.ts';
import { resolvedWork } from './resolved-work.ts';

const INTEGRATION = 'refs/ramet/operator/s';
const BRANCH = 'ramet/T2-1';

interface ConflictedRun {
  place: MergePlace;
  commit: string;
  resets: string[];
  look(status: TaskChanged['status']): ReturnType<typeof resolvedWork>;
}

/** The result has one file, and the work of T2 has it too, with other content. */
function conflictedRun(): ConflictedRun {
  const place = mergePlace({ a: '1\n' });
  const commit = place.branch(BRANCH, { same: 'T2\n' });
  const landed = place.branch('landed', { same: 'T1\n' });
  place.git('update-ref', 'refs/heads/main', landed);
  place.git('update-ref', INTEGRATION, landed);
  const resets: string[] = [];
  const stateWith = (status: TaskChanged['status']): OperatorState => {
    const failed = { number: 1, state: 'failed', cause: 'conflict', branch: BRANCH, commit } as const;
    const frozen = taskChange('T2', 'frozen', { cause: 'conflict', attempt: failed });
    return madeRun(
      startedRun([madeTask('T2')]),
      frozen,
      ...(status === 'frozen' ? [] : [taskChange('T2', status)]),
    );
  };
  const reset = async (_: unknown, to: string): Promise<void> => void resets.push(to);
  const look: ConflictedRun['look'] = (status) =>
    resolvedWork(stateWith(status), { repository: place.repository, reset });
  return { place, commit, resets, look };
}

/** As a person resolves it on the target. */
function mergeIntoTarget({ git, branch }: MergePlace, commit: string): string {
  const tree = git('rev-parse', `${branch('resolved', { same: 'T1\nT2\n' })}^{tree}`);
  const merged = git('commit-tree', tree, '-p', 'main', '-p', commit, '-m', 'Resolve it');
  git('update-ref', 'refs/heads/main', merged);
  return merged;
}

describe('OP-4: a conflict that a person has resolved', () => {
  test('on the target is found, also when a clean-up has deleted the branch before the run is resumed', async () => {
    const { place, commit, resets, look } = conflictedRun();
    expect([...(await look('frozen'))]).toEqual([]);
    const merged = mergeIntoTarget(place, commit);
    expect((await look('frozen')).get('T2')).toEqual({ number: 1, branch: BRANCH, commit, isIn: true });
    place.git('branch', '--quiet', '-D', BRANCH);
    const known = { number: 1, branch: commit, commit, isIn: true };
    for (const status of ['frozen', 'queued', 'waiting'] as const)
      expect((await look(status)).get('T2')).toEqual(known);
    expect(new Set(resets)).toEqual(new Set([merged]));
    expect([...(await look('skipped'))]).toEqual([]);
  });

  test('nowhere is not, with its branch or without', async () => {
    const { place, look } = conflictedRun();
    place.git('branch', '--quiet', '-D', BRANCH);
    expect([...(await look('frozen'))]).toEqual([]);
  });
});
