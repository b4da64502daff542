import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { afterEnd, afterFailure, type Breaker, CLOSED_BREAKER } from './breaker.ts';
import { type FanInPolicy, judgeFanIn, parseFanInPolicy, type TaskOutcome } from './fan-in.ts';

function judge(policy: string, ...outcomes: TaskOutcome[]): string {
  const { state, land, stop } = judgeFanIn(
    parseFanInPolicy(policy) ?? { kind: 'all' },
    new Map(outcomes.map((outcome, index) => [String(index), outcome])),
  );
  return `${state} land ${land} stop ${stop}`;
}

describe('OP-4: fan-in', () => {
  test.each([
    ['all', ['passed', 'pending'], 'open land  stop '],
    ['all', ['passed', 'passed'], 'met land 0,1 stop '],
    ['all', ['passed', 'failed', 'pending'], 'lost land  stop '],
    ['best-effort', ['passed', 'failed', 'pending'], 'open land 0 stop '],
    ['best-effort', ['passed', 'failed'], 'met land 0 stop '],
    ['best-effort', ['failed'], 'lost land  stop '],
    ['quorum:2', ['passed', 'pending', 'failed'], 'open land  stop '],
    ['quorum:2', ['passed', 'passed', 'pending'], 'met land 0,1 stop '],
    ['quorum:2', ['passed', 'failed', 'failed'], 'lost land  stop '],
    ['first', ['pending', 'passed', 'pending'], 'met land 1 stop 0,2'],
    ['first', ['failed', 'pending'], 'open land  stop '],
    ['first', ['failed', 'failed'], 'lost land  stop '],
  ] as const)('%s with %j: %s', (policy, outcomes, expected) => {
    expect(judge(policy, ...outcomes)).toBe(expected);
  });

  test('names of policies are read strictly', () => {
    expect(['quorum:0', 'quorum:', 'quorum:-1', 'quorum:2x', 'ALL', ''].map(parseFanInPolicy)).toEqual(
      Array(6).fill(null),
    );
    expect(parseFanInPolicy('quorum:12')).toEqual({ kind: 'quorum', least: 12 });
  });

  const policies: fc.Arbitrary<FanInPolicy> = fc.oneof(
    fc.constantFrom<FanInPolicy>({ kind: 'all' }, { kind: 'best-effort' }, { kind: 'first' }),
    fc.integer({ min: 1, max: 5 }).map((least): FanInPolicy => ({ kind: 'quorum', least })),
  );
  const outcomes = fc.array(fc.constantFrom<TaskOutcome>('pending', 'passed', 'failed'), {
    minLength: 1,
    maxLength: 6,
  });

  test('only what passed lands, and a verdict is never taken back', () => {
    fc.assert(
      fc.property(policies, outcomes, fc.boolean(), (policy, list, passes) => {
        const before = judgeFanIn(policy, new Map(list.map((one, index) => [String(index), one])));
        for (const id of before.land) expect(list[Number(id)]).toBe('passed');
        const next = list.indexOf('pending');
        if (next === -1) expect(before.state).not.toBe('open');
        else {
          const later = list.with(next, passes ? 'passed' : 'failed');
          const after = judgeFanIn(policy, new Map(later.map((one, index) => [String(index), one])));
          if (before.state !== 'open') expect(after.state).toBe(before.state);
          if (policy.kind !== 'first') for (const id of before.land) expect(after.land).toContain(id);
        }
      }),
    );
  });
});

describe('OP-5: retries and breakers', () => {
  test('a task is tried again with growing delays, then frozen', () => {
    expect([1, 2, 3].map((failures) => afterFailure(failures))).toEqual([
      { next: 'retry', delayMs: 2_000 },
      { next: 'retry', delayMs: 4_000 },
      { next: 'freeze' },
    ]);
    expect(afterFailure(1_000, { retries: 2_000, firstDelayMs: 1, longestDelayMs: 50 })).toEqual({
      next: 'retry',
      delayMs: 50,
    });
  });

  const run = (...ends: boolean[]): Breaker =>
    ends.reduce((breaker, failed) => afterEnd(breaker, failed), CLOSED_BREAKER);

  test('the run stops after failures in a row, or when half of a full window failed, and stays stopped', () => {
    expect(run(true, true, true, true).tripped).toBeNull();
    expect(run(true, true, true, true, true).tripped).toBe('5 tasks in a row have failed');
    const half = [true, false, true, false, true, false, true, false, true, false];
    expect(run(...half.slice(0, 9)).tripped).toBeNull();
    expect(run(...half).tripped).toBe('5 of the last 10 tasks have failed');
    expect(run(...half, false, false, false).tripped).toBe('5 of the last 10 tasks have failed');
  });
});
