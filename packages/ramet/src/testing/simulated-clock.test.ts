import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type SimulatedClock, simulatedClock } from './simulated-clock.ts';

/** Sleeps for each span and notes who woke when. */
function sleepAll(clock: SimulatedClock, spans: readonly number[]): { index: number; time: number }[] {
  const woken: { index: number; time: number }[] = [];
  spans.forEach((span, index) => {
    void clock.sleep(span).then(() => woken.push({ index, time: clock.now() }));
  });
  return woken;
}

test.each([Number.NaN, Number.POSITIVE_INFINITY, 'x', null])(
  'a clock knows no time such as %s',
  async (ms) => {
    const clock = simulatedClock();
    expect(() => simulatedClock(ms as never)).toThrow(`a clock cannot start at ${ms} ms`);
    await expect(clock.advance(ms as never)).rejects.toThrow(`a clock cannot advance by ${ms} ms`);
    expect(() => clock.set(ms as never)).toThrow(`a clock cannot be set by ${ms} ms`);
  },
);

describe('a simulated clock', () => {
  test('stands still until it is advanced', async () => {
    const clock = simulatedClock(1_000);
    const woken = sleepAll(clock, [1]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(clock.now()).toBe(1_000);
    expect(woken).toEqual([]);
  });

  test('wakes a sleeper at its own time, not at the end of the span', async () => {
    const clock = simulatedClock();
    const woken = sleepAll(clock, [30, 10]);
    await clock.advance(100);
    expect(woken).toEqual([
      { index: 1, time: 10 },
      { index: 0, time: 30 },
    ]);
    expect(clock.now()).toBe(100);
  });

  test('leaves who is not due asleep', async () => {
    const clock = simulatedClock();
    const woken = sleepAll(clock, [10, 11]);
    await clock.advance(10);
    expect(woken).toHaveLength(1);
    expect(clock.due()).toEqual([11]);
  });

  test('wakes again who falls asleep again within the span', async () => {
    const clock = simulatedClock();
    const times: number[] = [];
    const everyTen = async (): Promise<void> => {
      for (let turn = 0; turn < 3; turn++) {
        await clock.sleep(10);
        times.push(clock.now());
      }
    };
    const running = everyTen();
    await clock.advance(25);
    expect(times).toEqual([10, 20]);
    await clock.advance(5);
    await running;
    expect(times).toEqual([10, 20, 30]);
  });

  test('wakes sleepers by due time, then by who fell asleep first', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 15 }), async (spans) => {
        const clock = simulatedClock();
        const woken = sleepAll(clock, spans);
        await clock.advance(20);
        const expected = spans
          .map((time, index) => ({ index, time }))
          .sort((a, b) => a.time - b.time || a.index - b.index);
        expect(woken).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  test('ends a sleep at once when its signal aborts, and forgets it', async () => {
    const clock = simulatedClock();
    const controller = new AbortController();
    const sleeping = clock.sleep(1_000, controller.signal);
    controller.abort();
    await sleeping;
    expect(clock.now()).toBe(0);
    expect(clock.due()).toEqual([]);
  });

  test('does not fall asleep for no time or on an aborted signal', async () => {
    const clock = simulatedClock();
    await clock.sleep(0);
    await clock.sleep(1_000, AbortSignal.abort());
    expect(clock.due()).toEqual([]);
  });

  test('takes its listener off the signal after an ordinary waking', async () => {
    const clock = simulatedClock();
    const controller = new AbortController();
    const first = clock.sleep(10, controller.signal);
    await clock.advance(10);
    await first;
    sleepAll(clock, [10]);
    controller.abort();
    expect(clock.due()).toEqual([20]);
  });

  test('says when enough are asleep', async () => {
    const clock = simulatedClock();
    let told = false;
    const telling = clock.whenSleeping(2).then(() => {
      told = true;
    });
    sleepAll(clock, [5]);
    await clock.advance(0);
    expect(told).toBe(false);
    sleepAll(clock, [5]);
    await telling;
    expect(told).toBe(true);
  });

  test.each([-1, Number.NaN])('refuses to advance by %d', async (ms) => {
    await expect(simulatedClock().advance(ms)).rejects.toThrow(RangeError);
  });

  test('refuses to wait for a number of sleepers that is none', () => {
    expect(() => simulatedClock().whenSleeping(Number.NaN)).toThrow(RangeError);
  });
});
