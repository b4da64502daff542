import { describe, expect, test } from 'vitest';
import type { Clock } from '../schema/clock.ts';
import { ModelError } from '../schema/errors.ts';
import { DEFAULT_RETRY, type FailedAttempt, withRetries } from './retry.ts';

const overloaded = (retryAfterMs?: number): ModelError =>
  new ModelError('overloaded_error', 'retryable', 'busy', { status: 529, retryAfterMs });

/** Time passes only by sleeping. */
function sleepingClock(onSleep: () => void = () => {}): Clock & { slept: number[] } {
  const slept: number[] = [];
  let now = 0;
  return {
    slept,
    now: () => now,
    sleep: async (ms) => {
      slept.push(ms);
      now += ms;
      onSleep();
    },
  };
}

async function run(errors: unknown[], clock = sleepingClock(), signal = new AbortController().signal) {
  const failures: FailedAttempt[] = [];
  let calls = 0;
  const outcome = await withRetries(
    async (attempt) => {
      calls = attempt;
      const error = errors[attempt - 1];
      if (error !== undefined) throw error;
      return 'answer';
    },
    { policy: DEFAULT_RETRY, clock, signal, onFailure: (failure) => void failures.push(failure) },
  ).catch((error: unknown) => error);
  return { outcome, calls, failures, slept: clock.slept };
}

describe('MODEL-2: one retry policy', () => {
  test('a retryable failure is tried again until it succeeds, with growing pauses', async () => {
    const { outcome, slept } = await run([overloaded(), overloaded(), overloaded()]);
    expect(outcome).toBe('answer');
    expect(slept).toHaveLength(3);
    for (const [index, pause] of slept.entries()) {
      expect(pause).toBeGreaterThanOrEqual(500 * 2 ** index * 0.75);
      expect(pause).toBeLessThanOrEqual(500 * 2 ** index);
    }
  });

  test('retry-after comes before the own pause', async () => {
    expect((await run([overloaded(1_234)])).slept).toEqual([1_234]);
  });

  test('a terminal failure is not tried again', async () => {
    const error = new ModelError('authentication_error', 'terminal', 'no', { status: 401 });
    expect(await run([error])).toMatchObject({ outcome: error, calls: 1, failures: [{ retryInMs: null }] });
  });

  test('it gives up after eight retries and says so', async () => {
    const { outcome, calls, failures } = await run(Array.from({ length: 20 }, () => overloaded()));
    expect(calls).toBe(9);
    expect(failures.at(-1)?.retryInMs).toBeNull();
    expect(outcome).toMatchObject({ message: 'busy (gave up after 9 attempts)', status: 529 });
  });

  test('it gives up at once when the server asks for more patience than there is', async () => {
    const { outcome, calls } = await run([overloaded(3_600_000)]);
    expect(calls).toBe(1);
    expect(outcome).toMatchObject({ message: expect.stringContaining('pause of 3600 s') });
  });

  test('an abort while waiting ends it', async () => {
    const controller = new AbortController();
    const clock = sleepingClock(() => controller.abort());
    expect(await run([overloaded()], clock, controller.signal)).toMatchObject({
      outcome: { family: 'cancelled' },
      calls: 1,
    });
  });

  test('what is not a model error is not retried', async () => {
    const bug = new TypeError('bug');
    expect(await run([bug])).toMatchObject({ outcome: bug, calls: 1, failures: [] });
  });
});
