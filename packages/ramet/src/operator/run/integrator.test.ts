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

describe('OP-4: git fails on the work of one task', () => {
  const tasks = ['a', 'b', 'c', 'd'].map((id) => runTask(id));
  /** All four wait for the merge at once. */
  const together = (bad: string): ConstructorParameters<typeof OperatorWorld>[0] => {
    const gate = Promise.withResolvers<void>();
    let left = tasks.length;
    return {
      ...{ tasks, width: 4, run: { retries: 0 }, spent: new Map([['c', 0.3]]) },
      attempt: async () => {
        left -= 1;
        if (left === 0) gate.resolve();
        await gate.promise;
        return {};
      },
      fails: ({ offers }) =>
        offers.some(({ task }) => task.id === bad) ? 'git read-tree failed: unable to read c' : undefined,
    };
  };

  test('costs that task alone: the others are merged and land', async () => {
    const batches: string[] = [];
    const world = new OperatorWorld({
      ...together('c'),
      batch: ({ offers }) => batches.push(offers.map(({ task }) => task.id).join('')),
    });
    await world.run();
    expect(world.statuses()).toEqual({ a: 'done', b: 'done', c: 'frozen: git_failed', d: 'done' });
    expect(world.landed.at(-1)?.toSorted()).toEqual(['a', 'b', 'd']);
    const task = taskOf(world.state, 'c');
    expect(task).toMatchObject({
      message: 'git read-tree failed: unable to read c',
      person: expect.stringMatching(/^see what git says.*ramet operate retry c/),
    });
    // Each try to resolve it is paid.
    const tries = batches.filter((ids) => ids.includes('c')).length;
    expect(task && costOfTask(task)).toBeCloseTo(0.01 + tries * 0.3);
    expect(world.state).toMatchObject({ status: 'ended' });
  });

  test('after a kill at any moment too', async () => {
    for (let diesAfter = 2; diesAfter < 40; diesAfter += 3) {
      const world = new OperatorWorld(together('b'));
      await world.run({ diesAfter });
      await world.run({ attempt: () => undefined });
      expect(world.statuses()).toEqual({ a: 'done', b: 'frozen: git_failed', c: 'done', d: 'done' });
    }
  });
});
