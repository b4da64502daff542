import { describe, expect, test } from 'vitest';
import { OperatorWorld, runTask } from '../../../test/fixtures/operator-world.ts';

const CHECK = { command: 'npm test', timeoutMs: 1_000 };
const FAILED = { command: 'npm test', passed: false, ending: 'exit code 1', output: '/log' };
const tasks = ['a', 'b', 'c', 'd'].map((id) => runTask(id));
/** Agents of a begun run are at work when the outcome is known. */
const baseCheck = async (): Promise<typeof FAILED> => FAILED;
const untilKnown = async (world: OperatorWorld): Promise<object> => {
  while (world.state.baseCheck === null) await new Promise(setImmediate);
  return {};
};

describe('OP-5: a check that fails before any task', () => {
  test('starts no more tasks than were under way, and says what to do; a resumed run starts all', async () => {
    const world = new OperatorWorld({
      ...{ tasks, width: 2, run: { check: CHECK }, baseCheck },
      attempt: () => untilKnown(world),
      merge: () => ({ kind: 'base_check', message: 'main itself fails' }),
    });
    await world.run();
    expect(world.started).toEqual(['a-1', 'b-1']);
    expect(world.statuses()).toEqual({
      a: 'frozen: base_check',
      b: 'frozen: base_check',
      c: 'ready',
      d: 'ready',
    });
    expect(world.state).toMatchObject({
      ...{ status: 'ended', cause: 'base_check', baseCheck: FAILED },
      message:
        'the check fails on main without any task (exit code 1; its output: /log): repair it, or start the tasks that are left nevertheless: ramet operate --resume s',
    });
    world.events.push({ type: 'operator.resumed' });
    await world.run({ merge: () => undefined });
    expect(world.statuses()).toMatchObject({ c: 'done', d: 'done' });
  });

  test('is repaired on the target by a person: while the run lasts, and before it is resumed', async () => {
    let repaired = false;
    let repairs = 0;
    const world = new OperatorWorld({
      ...{ tasks: [runTask('a'), runTask('b')], width: 1, run: { check: CHECK } },
      merge: () => (repaired ? undefined : { kind: 'base_check', message: 'main itself fails' }),
      ahead: (head) => {
        if (head !== 'base' || repairs === 0) return null;
        repaired = true;
        return 'other';
      },
    });
    await world.run({ ahead: () => null });
    expect(world.statuses()).toEqual({ a: 'frozen: base_check', b: 'frozen: base_check' });
    repairs = 1;
    world.events.push({ type: 'operator.resumed' });
    const resumed = world.operator();
    for (const task of ['a', 'b']) expect(resumed.act({ kind: 'retry', task }, 'person')).toBeNull();
    await resumed.run(new AbortController().signal);
    expect(world.statuses()).toEqual({ a: 'done', b: 'done' });
    expect(world.bases.get('a-2')).toBe('other');

    repaired = false;
    const live = new OperatorWorld({
      ...{ tasks: [runTask('a')], run: { check: CHECK } },
      merge: () => (repaired ? undefined : { kind: 'base_check', message: 'main itself fails' }),
      ahead: (head) => {
        repaired = true;
        return head === 'base' ? 'other' : null;
      },
    });
    await live.run();
    expect(live.statuses()).toEqual({ a: 'done' });
    expect(live.started).toEqual(['a-1']);
  });

  test('is repaired by a task, also by its second attempt, and then the others start', async () => {
    const world = new OperatorWorld({
      ...{ tasks, width: 1, run: { check: CHECK }, baseCheck },
      attempt: () => untilKnown(world),
      merge: ({ attempt }) => (attempt.name === 'a-1' ? { kind: 'check', message: 'not yet' } : undefined),
    });
    await world.run();
    expect(world.started).toEqual(['a-1', 'a-2', 'b-1', 'c-1', 'd-1']);
    expect(world.state).toMatchObject({ status: 'ended', cause: null });
  });

  test('does not hold a task that has a check of its own, and one that succeeds holds nobody', async () => {
    const own = runTask('own', { settings: { check: 'true' } });
    const world = new OperatorWorld({
      ...{ tasks: [runTask('a'), runTask('b'), own], width: 1, run: { check: CHECK, retries: 0 }, baseCheck },
      attempt: () => untilKnown(world),
      merge: ({ task }) => (task.id === 'own' ? undefined : { kind: 'base_check', message: 'red' }),
    });
    await world.run();
    expect(world.started.slice(0, 2)).toEqual(['a-1', 'own-1']);
    const good = new OperatorWorld({
      ...{ tasks, width: 1, run: { check: CHECK }, baseCheck: async () => ({ ...FAILED, passed: true }) },
      attempt: () => untilKnown(good),
    });
    await good.run();
    expect(Object.values(good.statuses())).toEqual(Array(4).fill('done'));
  });
});
