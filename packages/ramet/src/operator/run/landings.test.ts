import { describe, expect, test } from 'vitest';
import { OperatorWorld, runTask, type WorldOptions } from '../../../test/fixtures/operator-world.ts';
import type { LeftOut } from '../../schema/operator-events.ts';
import type { LandingOrder, RebasedResult } from './ports.ts';

const left = (task: string, cause: LeftOut['cause']): LeftOut => ({
  ...{ task, cause, message: `${task} does not fit`, files: ['same.txt'], check: null },
});

/** The target has `other` from then on, and these do not fit to it. */
function without(order: LandingOrder, merged: readonly string[], out: readonly LeftOut[]): RebasedResult {
  const kept = merged.filter((id) => id !== 'other' && !out.some(({ task }) => task === id));
  return {
    ...{ commit: ['other', ...kept].join('+'), onto: 'other', left: out, spent: new Map() },
    results: Object.fromEntries(
      order.work.filter(({ task }) => kept.includes(task.id)).map(({ task }) => [task.id, `${task.id}'`]),
    ),
  };
}

/** The first landing that has T1 finds that the target has moved. */
function movedOnce(out: readonly LeftOut[]): Pick<WorldOptions, 'land'> {
  let isMoved = false;
  return {
    land: (order, merged) => {
      if (isMoved || !merged.includes('T1')) return undefined;
      isMoved = true;
      return without(order, merged, out);
    },
  };
}

const ALL = [runTask('T1'), runTask('T2'), runTask('T3', { waits: ['T1'] })];

describe('OP-4: a target that has moved against the run', () => {
  test('best-effort: what fits lands, the rest is done again on the new base', async () => {
    const world = new OperatorWorld({
      tasks: [runTask('T1'), runTask('T2')],
      ...movedOnce([left('T1', 'conflict')]),
    });
    await world.run();
    expect(world.statuses()).toEqual({ T1: 'done', T2: 'done' });
    expect(world.started).toEqual(['T1-1', 'T2-1', 'T1-2']);
    expect(world.bases.get('T1-2')).toMatch(/^other/);
    expect(world.landed.at(-1)).toEqual(['T2', 'T1']);
    expect(world.state.landing).toMatchObject({ state: 'moved' });
  });

  test('each time that it moves during the check is on record', async () => {
    const world = new OperatorWorld({
      tasks: [runTask('T1')],
      land: (order) => {
        for (const next of [2, 3]) order.onMissed?.(next, 20);
        return undefined;
      },
    });
    await world.run();
    const said = world.events.flatMap((event) => (event.type === 'operator.landed' ? [event.message] : []));
    const again = 'main has moved: merged and checked again';
    expect(said).toEqual([null, `${again} (try 2 of 20)`, `${again} (try 3 of 20)`, null]);
  });

  test('all: nothing lands until everything has been done on the new base', async () => {
    const world = new OperatorWorld({
      ...{ run: { policy: 'all' }, tasks: [runTask('T1'), runTask('T2')] },
      ...movedOnce([left('T1', 'conflict')]),
    });
    await world.run();
    expect(world.started).toEqual(['T1-1', 'T2-1', 'T1-2']);
    expect(world.landed).toEqual([['T2', 'T1']]);
  });

  test('what waits for a task that is left out keeps its work, and is merged again after it', async () => {
    const world = new OperatorWorld({
      ...{ run: { policy: 'all' }, tasks: ALL },
      ...movedOnce([left('T1', 'conflict'), left('T3', 'dependency')]),
    });
    await world.run();
    expect(world.statuses()).toEqual({ T1: 'done', T2: 'done', T3: 'done' });
    expect(world.started.toSorted()).toEqual(['T1-1', 'T1-2', 'T2-1', 'T3-1']);
    expect(world.merged).toEqual(['T2', 'T1', 'T3']);
  });

  test('it is blocked if that task is left to a person, and merged when it is done at last', async () => {
    const world = new OperatorWorld({
      ...{ run: { policy: 'all', onConflict: 'person' }, tasks: ALL },
      ...movedOnce([left('T1', 'conflict'), left('T3', 'dependency')]),
    });
    await world.run();
    expect(world.statuses()).toEqual({
      T1: 'frozen: conflict',
      T2: 'done',
      T3: expect.stringMatching(/^(blocked: dependency|verifying)$/),
    });
    expect(world.landed).toEqual([]);
    world.events.push({ type: 'operator.resumed' });
    const operator = world.operator();
    expect(operator.act({ kind: 'retry', task: 'T1' }, 'person')).toBeNull();
    await operator.run(new AbortController().signal);
    expect(world.statuses()).toEqual({ T1: 'done', T2: 'done', T3: 'done' });
    expect(world.started).not.toContain('T3-2');
    expect(world.landed).toEqual([['T2', 'T1', 'T3']]);
  });

  test('conflicts without end are left to a person after the rounds that there are', async () => {
    const world = new OperatorWorld({
      ...{ tasks: [runTask('T1'), runTask('T2')], run: { retries: 9 } },
      land: (order, merged) =>
        merged.includes('T1') ? without(order, merged, [left('T1', 'conflict')]) : undefined,
    });
    await world.run();
    expect(world.statuses()).toEqual({ T1: 'frozen: conflict', T2: 'done' });
    const triesOfT1 = (): string[] => world.started.filter((name) => name.startsWith('T1'));
    expect(triesOfT1()).toHaveLength(3);
    expect(world.landed.at(-1)).toEqual(['T2']);
    world.events.push({ type: 'operator.resumed' });
    const operator = world.operator();
    operator.act({ kind: 'retry', task: 'T1' }, 'person');
    await operator.run(new AbortController().signal);
    expect(world.statuses()).toEqual({ T1: 'frozen: conflict', T2: 'done' });
    expect(triesOfT1()).toHaveLength(6);
  });

  test('killed at any event, it ends with the same, and nothing is done or landed twice', async () => {
    const options = (): WorldOptions => ({
      ...{ run: { policy: 'all' }, tasks: ALL },
      land: (order, merged) =>
        order.known === 'base' && merged.includes('T1')
          ? without(order, merged, [left('T1', 'conflict'), left('T3', 'dependency')])
          : undefined,
    });
    const whole = new OperatorWorld(options());
    await whole.run();
    for (let death = 2; death < whole.events.length; death += 1) {
      const world = new OperatorWorld(options());
      await world.run({ diesAfter: death });
      await world.run();
      expect(world.statuses(), `died after ${death}`).toEqual({ T1: 'done', T2: 'done', T3: 'done' });
      expect(world.landed.at(-1)?.toSorted(), `died after ${death}`).toEqual(['T1', 'T2', 'T3']);
      expect(world.started.toSorted(), `died after ${death}`).toEqual(['T1-1', 'T1-2', 'T2-1', 'T3-1']);
    }
  });
});
