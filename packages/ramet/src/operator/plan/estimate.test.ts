import { describe, expect, test } from 'vitest';
import { MODEL, pastRun, pastTask } from '../../../test/fixtures/run-histories.ts';
import { NO_USAGE } from '../../schema/usage.ts';
import { estimatesOf } from './estimate.ts';
import { forecast } from './predict.ts';

const LIST = [
  { id: 'a', title: 'do a' },
  { id: 'b', title: 'other words' },
  { id: 'c', title: 'look', type: 'Explore' },
];

const GRAPH = {
  nodes: LIST.map(({ id }) => ({
    id,
    waits: id === 'c' ? ['a'] : [],
    barrier: null,
    files: [],
    held: false,
  })),
};

describe('OP-7: what earlier runs say about a task', () => {
  test('comes from the same task, else from its kind, else from all', () => {
    const runs = [
      pastRun([
        pastTask('a', { workMs: 1_000 }),
        pastTask('b', { workMs: 3_000 }),
        pastTask('x', { workMs: 8_000, type: 'Explore' }),
        pastTask('y', { workMs: 99_000, outcome: 'failed' }),
      ]),
    ];
    const found = estimatesOf(LIST, runs, MODEL);
    expect(['a', 'b', 'c'].map((id) => found?.of(id).workMs)).toEqual([1_000, 2_000, 8_000]);
    expect(found).toMatchObject({ runs: 1, tasks: 3, known: 1 });
    expect(estimatesOf([{ id: 'z', title: 'z', effort: 'max' }], runs, MODEL)?.of('z').workMs).toBe(4_000);
  });

  test('is nothing where no task was ever done', () => {
    expect(estimatesOf(LIST, [], MODEL)).toBeNull();
    expect(estimatesOf(LIST, [pastRun([pastTask('a', { outcome: 'open' })])], MODEL)).toBeNull();
  });

  test('counts the slow beginning of a run once, and not for each task', () => {
    const slow = { workMs: 13_000, setupMs: 4_000, verifyMs: 2_800 };
    const tasks = [
      pastTask('a', slow),
      pastTask('b', slow),
      pastTask('c', { startedAt: 1 }),
      pastTask('d', { startedAt: 2 }),
    ];
    const found = estimatesOf([{ id: 'n', title: 'n' }], [pastRun(tasks)], MODEL);
    expect(found).toMatchObject({ headMs: 5_500 });
    expect(found?.of('n')).toMatchObject({ workMs: 10_000, landMs: 1_000 });
  });

  test('tells a task that wrote the shared beginning from those that read it', () => {
    const runs = [
      pastRun([pastTask('w', { costUsd: 0.12, reused: { tokens: 0, savedUsd: 0 } }), pastTask('r')]),
    ];
    const found = estimatesOf([{ id: 'n', title: 'n' }], runs, MODEL);
    expect(found?.of('n')).toMatchObject({ usd: expect.closeTo(0.1, 9), writingUsd: 0.02 });
    expect([1, 2, 10].map((count) => found?.writers(count))).toEqual([1, 1, 1]);
  });

  test('costs what another model charges for the same tokens, and an unknown part is unknown', () => {
    const usage = { ...NO_USAGE, output_tokens: 1_000_000 };
    const runs = [pastRun([pastTask('a', { usage })])];
    expect(estimatesOf(LIST, runs, 'claude-opus-5')?.of('a').usd).toBe(25);
    expect(estimatesOf(LIST, runs, 'nobody-knows')?.of('a').usd).toBeNull();
    const unknown = [pastRun([pastTask('a', { costUsd: null })])];
    expect(forecast(GRAPH, MODEL, estimatesOf(LIST, unknown, MODEL)).widths[0]?.usd.planned).toBeNull();
  });

  test('makes a plan that repeats the run it came from', () => {
    const tasks = [
      pastTask('a', { costUsd: 0.12, reused: { tokens: 0, savedUsd: 0 } }),
      pastTask('b', { title: 'other words' }),
      pastTask('c', { title: 'look', type: 'Explore' }),
    ];
    const plan = forecast(GRAPH, MODEL, estimatesOf(LIST, [pastRun(tasks, { otherUsd: 0.03 })], MODEL));
    const [one, two] = plan.widths;
    expect(one?.seconds.likely).toBeCloseTo(0.5 + 3 * 10 + 1 + 0.5, 6);
    expect(two?.seconds.likely).toBeCloseTo(0.5 + 2 * 11 + 0.5, 6);
    expect(two?.usd.planned?.likely).toBeCloseTo(0.35, 9);
    expect(two?.usd.unplanned?.likely).toBeCloseTo(0.37, 9);
    expect(plan).toMatchObject({ recommended: 2, criticalPath: ['a', 'c'] });
    for (const { seconds } of plan.widths) expect(seconds.low).toBeLessThan(seconds.high);
  });
});
