import { describe, expect, test } from 'vitest';
import { OperatorWorld, runTask } from '../../../test/fixtures/operator-world.ts';
import { costOfTask, taskOf } from './operator-state.ts';

describe('OP-6: what resolving conflicts costs', () => {
  test('is paid by the task and the budget of the run, also without success', async () => {
    const left: (number | undefined)[] = [];
    const world = new OperatorWorld({
      tasks: [runTask('a'), runTask('b')],
      ...{ run: { onConflict: 'resolve', retries: 1, budget: { usd: 1 } }, width: 1 },
      spent: new Map([['a', 0.3]]),
      merge: ({ task, attempt }) =>
        task.id === 'a' && attempt.number === 1
          ? { kind: 'conflict', files: ['f'], message: 'conflicts in f' }
          : undefined,
      batch: ({ leftUsd }) => left.push(leftUsd),
    });
    await world.run();
    const task = taskOf(world.state, 'a');
    expect(world.statuses()).toEqual({ a: 'done', b: 'done' });
    expect(task && costOfTask(task)).toBeCloseTo(0.62);
    expect(left[0]).toBeCloseTo(0.99);
    expect(Math.min(...left.map((usd) => usd ?? 0))).toBeLessThan(0.7);
  });

  test('a budget that is spent in the middle of a merge leaves nothing for it, and what is merged lands', async () => {
    const left: (number | undefined)[] = [];
    const world = new OperatorWorld({
      tasks: [runTask('a'), runTask('b', { waits: ['a'] })],
      ...{ run: { onConflict: 'resolve', budget: { usd: 0.05 } }, width: 1 },
      spent: new Map([['a', 1]]),
      batch: ({ leftUsd }) => left.push(leftUsd),
    });
    await world.run();
    expect(world.statuses()).toEqual({ a: 'done', b: 'ready' });
    expect(world.landed).toEqual([['a']]);
    expect(world.state).toMatchObject({ status: 'ended', cause: 'budget' });
    expect(left).toEqual([0.04]);
  });
});
