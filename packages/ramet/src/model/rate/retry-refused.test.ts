import { describe, expect, test } from 'vitest';
import { never, OK, provider } from '../../../test/fixtures/rate-senders.ts';
import { ModelError } from '../../schema/errors.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { failureOutcome } from './rate-bucket.ts';
import { createRateWindow } from './rate-window.ts';
import { DEFAULT_RETRY, withRetries } from './retry.ts';

const refusal = (retryAfterMs?: number): ModelError =>
  new ModelError('rate_limit_error', 'retryable', 'slow down', { status: 429, retryAfterMs });
const lost = (): ModelError => new ModelError('connection', 'retryable', 'lost');

interface Setup {
  /** What an attempt meets, by its number. */
  meets: (attempt: number) => ModelError | undefined;
  waitSeconds?: number | undefined;
  hasAnswered?: boolean;
  /** Others get through all the time. */
  othersPass?: boolean;
}

/** One request in a real window, and its outcome. */
async function play({ meets, waitSeconds, hasAnswered = true, othersPass = false }: Setup) {
  const clock = simulatedClock(1_000_000);
  const start = clock.now();
  const window = createRateWindow({ provider, clock, policy: DEFAULT_RETRY });
  const limits = window.request('m');
  const told: string[] = [];
  let attempts = 0;
  let isOver = false;
  const outcome = withRetries(
    async (attempt) => {
      attempts = attempt;
      if (othersPass) (await window.request('m').acquire(never)).release(OK);
      const ticket = await limits.acquire(never);
      const error = meets(attempt);
      ticket.release(error === undefined ? OK : failureOutcome(error));
      if (error !== undefined) throw error;
      return 'answer';
    },
    {
      ...{ policy: DEFAULT_RETRY, clock, signal: never, onFailure: () => {}, limits },
      health: {
        patienceMs: Number.POSITIVE_INFINITY,
        hasAnswered,
        limitMs: waitSeconds === undefined ? undefined : waitSeconds * 1_000,
        verdict: ({ status }) => (status === 429 ? null : 'wait'),
        tooLong: ({ code }) => void told.push(code),
      },
    },
  )
    .catch((error: unknown) => error)
    .finally(() => {
      isOver = true;
    });
  while (!isOver) {
    await Promise.race([clock.whenSleeping(), outcome]);
    if (!isOver) await clock.advance(100);
  }
  return { outcome: await outcome, told, attempts, seconds: (clock.now() - start) / 1_000 };
}

const LIMITED = { name: 'ProviderAway', code: 'limit', message: expect.stringMatching(/^slow down/) };

describe('LAUNCH-2: refusals by a provider that has answered before', () => {
  test.for([0, 1_000, 20_000, undefined])(
    'with a retry-after of %s ms they interrupt the run when it may wait no longer',
    async (retryAfterMs) => {
      const { outcome, told, seconds } = await play({ meets: () => refusal(retryAfterMs), waitSeconds: 100 });
      expect(outcome).toMatchObject(LIMITED);
      expect(told).toEqual(['limit']);
      expect(seconds).toBeLessThanOrEqual(101);
      expect(seconds).toBeGreaterThan(79);
    },
  );

  test('are waited out for as long as the user says, however many they are', async () => {
    const meets = (attempt: number) => (attempt <= 500 ? refusal(1_000) : undefined);
    expect(await play({ meets, waitSeconds: 600 })).toMatchObject({ outcome: 'answer', attempts: 501 });
  });

  test('interrupt after three minutes where the user says nothing', async () => {
    const { outcome, seconds } = await play({ meets: () => refusal(1_000) });
    expect(outcome).toMatchObject(LIMITED);
    expect(Math.round(seconds)).toBe(180);
  });

  test('count together with a long pause after them', async () => {
    const meets = (attempt: number) => refusal(attempt <= 50 ? 1_000 : 70_000);
    const { outcome, attempts } = await play({ meets, waitSeconds: 100 });
    expect(outcome).toMatchObject({ ...LIMITED, message: 'slow down (waited 50 s)' });
    expect(attempts).toBe(51);
  });

  test('do not count the time of an outage between them, and begin no new count after it', async () => {
    const meets = (attempt: number) => (attempt % 10 < 5 ? refusal(1_000) : lost());
    const { outcome, attempts } = await play({ meets, waitSeconds: 30 });
    expect(outcome).toMatchObject(LIMITED);
    expect(attempts).toBeGreaterThan(50);
    expect(attempts).toBeLessThan(75);
  });

  test('of one request alone, while others get through, are too many at four times as many as retries', async () => {
    const { outcome, attempts } = await play({
      meets: () => refusal(1_000),
      waitSeconds: 10,
      othersPass: true,
    });
    expect(outcome).toMatchObject(LIMITED);
    expect(attempts).toBe(34);
  });

  test('before a first answer they fail as ever', async () => {
    const { outcome, told } = await play({
      meets: () => refusal(1_000),
      waitSeconds: 10,
      hasAnswered: false,
    });
    expect(outcome).toMatchObject({
      name: 'ModelError',
      message: expect.stringContaining('gave up after 33 attempts'),
    });
    expect(told).toEqual([]);
  });
});
