import { describe, expect, test } from 'vitest';
import { pastRun, pastTask } from '../../../test/fixtures/run-histories.ts';
import { operatorStatistics } from './statistics.ts';

describe('OP-7: statistics of earlier runs', () => {
  test('without a run there is nothing, and nothing fails', () => {
    expect(operatorStatistics([])).toMatchObject({
      ...{ runs: 0, from: null, worktrees: null, launches: null, cacheHitRate: null },
      predictions: { compared: [], time: null, cost: null, enough: false },
    });
  });

  test('count conflicts of tasks that ran beside others, by whether they had declared their files', () => {
    const tasks = [
      pastTask('a', { declared: ['src/a'], changed: ['src/a/x.ts'], conflicted: true }),
      pastTask('b', { declared: ['src/b'], changed: ['src/b/x.ts', 'README.md'] }),
      pastTask('c', { conflicted: true, outcome: 'failed' }),
      pastTask('alone', { startedAt: 20_000, endedAt: 30_000 }),
      pastTask('broken', { outcome: 'failed' }),
    ];
    expect(operatorStatistics([pastRun(tasks)]).conflicts).toEqual({
      declared: { count: 1, of: 2 },
      undeclared: { count: 1, of: 1 },
      outside: { count: 1, of: 2 },
      enough: false,
    });
  });

  test('say what worktrees take, and from which length of a task on they pay off', () => {
    const { worktrees } = operatorStatistics([pastRun([pastTask('a'), pastTask('b', { worktreeMs: null })])]);
    expect(worktrees).toMatchObject({ tasks: 1, makingMs: 300, mergingMs: 200, taskMs: 11_000 });
    expect(worktrees?.share).toBeCloseTo(500 / 11_000, 9);
    expect(worktrees?.breakEven.slice(0, 2)).toEqual([
      { width: 2, taskMs: 500 },
      { width: 4, taskMs: 500 / 3 },
    ]);
  });

  test('say what an hour of waiting may be worth before all should start at once', () => {
    const follow = { choice: 'follow', heldMs: 2_000, sharedTokens: 9_000, savedUsd: 0.01 } as const;
    const lead = { choice: 'lead', heldMs: 0, sharedTokens: 9_000, savedUsd: 0 } as const;
    const { launches } = operatorStatistics([
      pastRun([pastTask('a')], { launches: [lead, follow, follow, follow] }),
    ]);
    expect(launches).toMatchObject({ leads: 1, followers: 3, atOnce: 0, heldMs: 2_000, savedUsd: 0.01 });
    expect(launches?.crossoverUsdPerHour).toBeCloseTo(54, 6);
  });

  test('compare each undisturbed run with the plan that the runs before it give', () => {
    const tasks = [pastTask('a'), pastTask('b')];
    const runs = [
      pastRun(tasks, { startedAt: 3, wallMs: 24_000 }),
      pastRun(tasks, { startedAt: 2, undisturbed: false }),
      pastRun(tasks, { startedAt: 1, wallMs: 12_000 }),
      pastRun(tasks, { startedAt: 0 }),
    ];
    const { predictions } = operatorStatistics(runs);
    expect(predictions).toMatchObject({ first: 1, disturbed: 1, enough: false });
    expect(
      predictions.compared.map(({ startedAt, predictedSeconds }) => [startedAt, predictedSeconds]),
    ).toEqual([
      [3, 12],
      [1, 12],
    ]);
    expect(predictions.time).toEqual({ median: 0, worst: 0.5 });
    expect(predictions.cost?.worst).toBeCloseTo(0, 9);
  });
});
