import { describe, expect, test } from 'vitest';
import type { Clock } from '../../schema/clock.ts';
import { ModelError } from '../../schema/errors.ts';
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

describe('LAUNCH-2: a 429 is waited for in the rate window', () => {
  const limited = (retryAfterMs?: number): ModelError =>
    new ModelError('rate_limit_error', 'retryable', 'slow down', { status: 429, retryAfterMs });

  /** A window that is closed for `pauseMs` after each attempt; `answers` says what the attempts meet. */
  async function runLimited(
    answers: (attempt: number) => unknown,
    {
      pauseMs = 1_000,
      policy = DEFAULT_RETRY,
      patienceMs = Number.POSITIVE_INFINITY,
      succeeds = () => false as boolean,
    } = {},
  ) {
    const clock = sleepingClock();
    const failures: FailedAttempt[] = [];
    const limits = {
      waitedMs: 0,
      succeededAt: null as number | null,
      patienceMs,
      awaySince: null,
      asleepMs: 0,
      awayMs: () => 0,
      pausedMs: () => pauseMs,
    };
    let calls = 0;
    const outcome = await withRetries(
      async (attempt) => {
        calls = attempt;
        if (attempt > 1) {
          await clock.sleep(pauseMs);
          limits.waitedMs += pauseMs;
        }
        if (succeeds()) limits.succeededAt = clock.now();
        const error = answers(attempt);
        if (error !== undefined) throw error;
        return 'answer';
      },
      {
        policy,
        clock,
        signal: new AbortController().signal,
        onFailure: (failure) => void failures.push(failure),
        limits,
      },
    ).catch((error: unknown) => error);
    return { outcome, calls, failures, slept: clock.slept };
  }

  test('it waits there and nowhere else, and says how long', async () => {
    const { outcome, slept, failures } = await runLimited((attempt) => (attempt < 4 ? limited() : undefined));
    expect(outcome).toBe('answer');
    expect(slept).toEqual([1_000, 1_000, 1_000]);
    expect(failures.map(({ retryInMs }) => retryInMs)).toEqual([1_000, 1_000, 1_000]);
  });

  test('it does not count as a failure: twenty 429s and eight failures are survived', async () => {
    const errors = [
      ...Array.from({ length: 20 }, () => limited()),
      ...Array.from({ length: 8 }, () => overloaded()),
    ];
    expect((await runLimited((attempt) => errors[attempt - 1])).outcome).toBe('answer');
    const { outcome } = await runLimited((attempt) => [...errors, overloaded()][attempt - 1]);
    expect(outcome).toMatchObject({ status: 529 });
  });

  test('three minutes without anybody getting through are the end', async () => {
    const { outcome, calls } = await runLimited(() => limited(), { pauseMs: 50_000 });
    expect(calls).toBe(4);
    expect(outcome).toMatchObject({ status: 429, message: 'slow down (gave up after 4 attempts)' });
  });

  test('while others get through it waits on, up to four times as many 429s as retries', async () => {
    const { calls } = await runLimited(() => limited(), { pauseMs: 50_000, succeeds: () => true });
    expect(calls).toBe(33);
  });

  test('who wants no retries gets none', async () => {
    const policy = { ...DEFAULT_RETRY, maxRetries: 0 };
    expect((await runLimited(() => limited(), { policy })).calls).toBe(1);
  });

  test('a pause that is longer than its patience ends it at once', async () => {
    const { outcome, calls, slept } = await runLimited(() => limited(3_600_000), {
      pauseMs: 3_600_000,
      patienceMs: 180_000,
    });
    expect(calls).toBe(1);
    expect(slept).toEqual([]);
    expect(outcome).toMatchObject({ message: expect.stringContaining('pause of 3600 s') });
  });

  test.each([
    ['a 429', () => limited(7_200_000)],
    ['a 529', () => overloaded(7_200_000)],
    [
      'a 503',
      () => new ModelError('api_error', 'retryable', 'down', { status: 503, retryAfterMs: 7_200_000 }),
    ],
  ])('the long pause of %s is waited out, as often as it is asked for', async (_, refusal) => {
    const answers = (attempt: number) => (attempt <= 40 ? refusal() : undefined);
    const { outcome, calls, failures } = await runLimited(answers, { pauseMs: 7_200_000 });
    expect(outcome).toBe('answer');
    expect(calls).toBe(41);
    expect(failures.every(({ retryInMs }) => retryInMs === 7_200_000)).toBe(true);
  });

  test('what the window does not wait of a retry-after is waited here', async () => {
    const { slept } = await runLimited((attempt) => (attempt === 1 ? limited(5_000) : undefined));
    expect(slept).toEqual([4_000, 1_000]);
  });

  test('time spent in the window does not count for other failures', async () => {
    const errors = [limited(), limited(), limited(), overloaded(100_000)];
    const { outcome } = await runLimited((attempt) => errors[attempt - 1], { pauseMs: 59_000 });
    expect(outcome).toBe('answer');
  });
});

describe('MODEL-2: an outage of a provider that has answered before', () => {
  const lost = (): ModelError => new ModelError('connection', 'retryable', 'lost');

  async function runAway(
    answers: (attempt: number, now: number) => ModelError | undefined,
    { patienceMs = Number.POSITIVE_INFINITY, verdict = 'wait' as const } = {},
  ) {
    const clock = sleepingClock();
    const told: string[] = [];
    let calls = 0;
    const outcome = await withRetries(
      async (attempt) => {
        calls = attempt;
        const error = answers(attempt, clock.now());
        if (error !== undefined) throw error;
        return 'answer';
      },
      {
        policy: DEFAULT_RETRY,
        clock,
        signal: new AbortController().signal,
        onFailure: () => {},
        health: { patienceMs, verdict: () => verdict, tooLong: ({ message }) => void told.push(message) },
      },
    ).catch((error: unknown) => error);
    return { outcome, calls, told, slept: clock.slept };
  }

  test.for([
    ['a usage limit of an hour', [3_600_000]],
    ['refusals', [55_000, 55_000]],
  ] as const)('is a new one after %s: the provider was there', async ([, pauses]) => {
    const clock = sleepingClock();
    const refused = pauses.map(
      (retryAfterMs) =>
        new ModelError('rate_limit_error', 'retryable', 'slow', { status: 429, retryAfterMs }),
    );
    const errors = [lost(), ...refused, lost(), lost()];
    const outcome = await withRetries(
      async (attempt) => {
        const error = errors[attempt - 1];
        if (error !== undefined) throw error;
        return 'answer';
      },
      {
        ...{ policy: DEFAULT_RETRY, clock, signal: new AbortController().signal, onFailure: () => {} },
        limits: {
          ...{ waitedMs: 0, succeededAt: null, patienceMs: Number.POSITIVE_INFINITY, pausedMs: () => 0 },
          ...{ awaySince: null, asleepMs: 0, awayMs: () => 0 },
        },
        health: {
          patienceMs: 60_000,
          verdict: ({ status }) => (status === 429 ? null : 'wait'),
          tooLong: () => {},
        },
      },
    ).catch((error: unknown) => error);
    expect(outcome).toBe('answer');
  });

  test('is borne for hours', async () => {
    const { outcome, slept } = await runAway((_, now) => (now < 4 * 3_600_000 ? lost() : undefined));
    expect(outcome).toBe('answer');
    expect(Math.max(...slept)).toBeLessThanOrEqual(8_000);
  });

  test('is borne as long as the run may wait, and then the run is told why', async () => {
    const { outcome, told } = await runAway(lost, { patienceMs: 1_800_000 });
    expect(outcome).toMatchObject({
      name: 'ProviderAway',
      code: 'provider',
      message: 'lost (waited 30 min)',
    });
    expect(told).toEqual(['lost (waited 30 min)']);
  });

  test('is not waited for when nothing is to be waited', async () => {
    const { outcome, calls } = await runAway(lost, { patienceMs: 0 });
    expect(outcome).toMatchObject({ name: 'ProviderAway', message: 'lost' });
    expect(calls).toBe(1);
  });

  test('a failure late in a long answer is tried again, also without that', async () => {
    const clock = sleepingClock();
    const outcome = await withRetries(
      async (attempt) => {
        if (attempt === 2) return 'answer';
        await clock.sleep(600_000);
        throw lost();
      },
      { policy: DEFAULT_RETRY, clock, signal: new AbortController().signal, onFailure: () => {} },
    );
    expect(outcome).toBe('answer');
  });
});
