import { describe, expect, test } from 'vitest';
import { runTask } from '../../../test/fixtures/operator-world.ts';
import { RUN_SETTINGS, taskMoved, timed } from '../../../test/fixtures/run-histories.ts';
import { agentStarted, requestStarted, responseCompleted } from '../../../test/recorded-events.ts';
import type { JournalEvent } from '../../schema/events.ts';
import { NO_USAGE } from '../../schema/usage.ts';
import { foldHistory } from './fold-history.ts';

const ENDED: JournalEvent = { type: 'operator.changed', status: 'ended', cause: null, message: null };

function started(...ids: string[]): JournalEvent {
  return { type: 'operator.started', run: RUN_SETTINGS, tasks: ids.map((id) => runTask(id)) };
}

function working(id: string, agent: string): JournalEvent {
  return taskMoved(id, 'running', { attempt: { number: 1, name: `${id}-1`, agent } });
}

function answered(costUsd: number, reused?: number): JournalEvent {
  const usage = { ...NO_USAGE, input_tokens: 100, cache_read_input_tokens: reused ?? 0 };
  return responseCompleted({ usage, costUsd, ...(reused && { reused: { tokens: reused, savedUsd: 0.5 } }) });
}

describe('OP-7: the history of a run', () => {
  test('has what each task took, by status, and what its agents and theirs spent', () => {
    const [run, ...others] = foldHistory(
      timed(
        [10, null, started('a', 'b')],
        [11, null, working('a', 's.2')],
        [11, 's.2', agentStarted({ model: 'm', parent: 's.1' })],
        [11.5, 's.2', requestStarted()],
        [12, 's.2', answered(1)],
        [12, 's.3', agentStarted({ model: 'other', parent: 's.2' })],
        [13, 's.3', answered(0.25, 700)],
        [14, null, taskMoved('a', 'verifying', { attempt: { number: 1, state: 'ended', files: ['x.ts'] } })],
        [16, null, taskMoved('a', 'merging')],
        [17, null, taskMoved('a', 'done')],
        [17, null, working('b', 's.4')],
        [18, 's.4', answered(2)],
        [19, null, taskMoved('b', 'waiting', { cause: 'check' })],
        [22, null, working('b', 's.5')],
        [23, null, taskMoved('b', 'done')],
        [24, 's.1', answered(0.125)],
        [25, null, ENDED],
      ),
    );
    expect(others).toEqual([]);
    expect(run).toMatchObject({
      ...{ ended: true, undisturbed: true, width: 2, wallMs: 15_000, headMs: 1_000, tailMs: 2_000 },
      ...{ costUsd: 3.375, otherUsd: 0.125 },
    });
    expect(run?.tasks).toMatchObject([
      {
        ...{ id: 'a', outcome: 'done', model: 'm', workMs: 3_000, setupMs: 500, verifyMs: 2_000 },
        mergeMs: 1_000,
        ...{ requests: 1, costUsd: 1.25, reused: { tokens: 700, savedUsd: 0.5 }, changed: ['x.ts'] },
      },
      { id: 'b', workMs: 3_000, pauseMs: 3_000, costUsd: 2, endedAt: 23_000 },
    ]);
  });

  test('leaves out the time in which nobody worked, and calls such a run disturbed', () => {
    const [run] = foldHistory(
      timed(
        [0, null, started('a')],
        [1, null, working('a', 's.2')],
        [3, 's.2', answered(1)],
        [5_000, null, { type: 'operator.resumed' }],
        [5_002, null, taskMoved('a', 'done')],
        [5_003, null, ENDED],
      ),
    );
    expect(run).toMatchObject({ undisturbed: false, wallMs: 6_000, tasks: [{ workMs: 4_000 }] });
  });

  test('notes conflicts, what people had to do, and what is not done', () => {
    const [run] = foldHistory(
      timed(
        [0, null, started('a', 'b', 'c')],
        [1, null, working('a', 's.2')],
        [2, null, taskMoved('a', 'waiting', { cause: 'conflict', conflict: { files: ['x'], rounds: 1 } })],
        [3, null, working('a', 's.3')],
        [4, null, taskMoved('a', 'done', { conflict: null })],
        [4, null, taskMoved('b', 'blocked', { cause: 'permission' })],
        [5, null, taskMoved('c', 'frozen', { cause: 'check' })],
      ),
    );
    expect(run).toMatchObject({ ended: false, undisturbed: false });
    expect(run?.tasks.map(({ outcome, conflicted, startedAt }) => [outcome, conflicted, startedAt])).toEqual([
      ['done', true, 1_000],
      ['open', false, null],
      ['failed', false, null],
    ]);
  });

  test('knows how long a follower was held, and keeps two runs of one session apart', () => {
    const launch = {
      type: 'launch.decided',
      mode: 'auto',
      why: '',
      sharedTokens: 900,
      coldTokens: 0,
    } as const;
    const runs = foldHistory(
      timed(
        [0, null, started('a')],
        [1, null, working('a', 's.2')],
        [1, 's.2', { ...launch, choice: 'follow' }],
        [4, 's.2', { ...launch, choice: 'released' }],
        [5, 's.2', answered(1, 900)],
        [6, null, taskMoved('a', 'done')],
        [6, null, ENDED],
        [7, null, started('a')],
        [8, null, working('a', 's.3')],
        [9, 's.3', answered(4)],
        [9, null, taskMoved('a', 'done')],
        [9, null, ENDED],
      ),
    );
    expect(runs.map(({ costUsd, wallMs }) => [costUsd, wallMs])).toEqual([
      [1, 6_000],
      [4, 2_000],
    ]);
    expect(runs[0]?.launches).toEqual([
      { choice: 'follow', heldMs: 3_000, sharedTokens: 900, savedUsd: 0.5 },
    ]);
    expect(foldHistory([])).toEqual([]);
  });
});
