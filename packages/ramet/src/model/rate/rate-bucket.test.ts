import { describe, expect, test } from 'vitest';
import { LONGEST_PAUSE_MS } from './machine-rates.ts';
import { RateBucket, type RateOutcome } from './rate-bucket.ts';

const OK: RateOutcome = { kind: 'answered', rate: {} };
const limited = (retryAfterMs?: number, overloaded = false): RateOutcome => ({
  kind: 'limited',
  overloaded,
  retryAfterMs,
  rate: undefined,
});

function bucketOf(ceiling = 100): RateBucket {
  return new RateBucket({ ceiling, baseMs: 500, capMs: 8_000, longestMs: LONGEST_PAUSE_MS });
}

/** Sends that many at once; the returned function ends them, one after the other. */
function burst(bucket: RateBucket, count: number): (outcome: RateOutcome, now: number) => void {
  const epochs = Array.from({ length: count }, () => bucket.begin());
  return (outcome, now) => {
    for (const epoch of epochs) bucket.end(epoch, outcome, now);
  };
}

/** One after the other, each begun after the last has ended. */
function succeed(bucket: RateBucket, times: number, now: number): void {
  for (let done = 0; done < times; done++) bucket.end(bucket.begin(), OK, now);
}

describe('LAUNCH-2: a refusal narrows the window', () => {
  test('to half of what was under way, once for the whole burst', () => {
    const bucket = bucketOf();
    burst(bucket, 50)(limited(), 1_000);
    expect(bucket).toMatchObject({ size: 25, inUse: 0 });
  });

  test('again when a request that began afterwards is refused, and never below one', () => {
    const bucket = bucketOf(8);
    const sizes = [8, 4, 2, 1, 1].map((count, index) => {
      burst(bucket, count)(limited(), index * 10_000);
      return bucket.size;
    });
    expect(sizes).toEqual([4, 2, 1, 1, 1]);
  });

  test('a request that is refused alone leaves room for a few, and a second refusal for fewer', () => {
    const bucket = bucketOf();
    const sizes = [1_000, 10_000, 20_000, 30_000].map((now) => {
      burst(bucket, 1)(limited(), now);
      return bucket.size;
    });
    expect(sizes).toEqual([4, 2, 1, 1]);
  });

  test('an overload narrows as well, and pauses only when it says how long', () => {
    const bucket = bucketOf();
    burst(bucket, 10)(limited(undefined, true), 1_000);
    expect(bucket.size).toBe(5);
    expect(bucket.pausedMs(1_000)).toBe(0);
    burst(bucket, 1)(limited(2_000, true), 1_000);
    expect(bucket.pausedMs(1_000)).toBe(2_000);
  });

  test('other failures leave it as it is', () => {
    const bucket = bucketOf();
    burst(bucket, 10)({ kind: 'failed' }, 1_000);
    expect(bucket).toMatchObject({ size: 100, inUse: 0, succeededAt: null });
  });
});

describe('LAUNCH-2: successes widen it again', () => {
  test('by one for each round at first', () => {
    const bucket = bucketOf(10);
    burst(bucket, 10)(limited(), 1_000);
    succeed(bucket, 4, 2_000);
    expect(bucket.size).toBe(5);
    succeed(bucket, 1, 2_000);
    expect(bucket.size).toBe(6);
  });

  test('by one for each success after a quiet minute, and never above the ceiling', () => {
    const bucket = bucketOf(10);
    burst(bucket, 10)(limited(), 1_000);
    succeed(bucket, 3, 61_000);
    expect(bucket.size).toBe(8);
    succeed(bucket, 30, 61_000);
    expect(bucket.size).toBe(10);
  });

  test('a success of before the refusal says nothing about after it', () => {
    const bucket = bucketOf(10);
    const early = burst(bucket, 9);
    burst(bucket, 1)(limited(), 1_000);
    early(OK, 70_000);
    expect(bucket.size).toBe(5);
    expect(bucket.succeededAt).toBe(70_000);
  });
});

describe('LAUNCH-2: a refusal pauses everybody', () => {
  test('for as long as it says', () => {
    const bucket = bucketOf();
    burst(bucket, 2)(limited(3_000), 1_000);
    expect(bucket.hasRoom(3_999)).toBe(false);
    expect(bucket.hasRoom(4_000)).toBe(true);
  });

  test('the longest pause counts, whatever comes later', () => {
    const bucket = bucketOf();
    burst(bucket, 1)(limited(9_000), 1_000);
    burst(bucket, 1)(limited(1_000), 2_000);
    expect(bucket.pausedMs(2_000)).toBe(8_000);
  });

  test('for growing spans when it does not say, until something succeeds', () => {
    const bucket = bucketOf();
    const pauses = Array.from({ length: 7 }, (_, index) => {
      const now = index * 100_000;
      burst(bucket, 3)(limited(), now);
      return bucket.pausedMs(now);
    });
    for (const [index, pause] of pauses.entries()) {
      const full = Math.min(8_000, 500 * 2 ** index);
      expect(pause).toBeGreaterThanOrEqual(full * 0.75);
      expect(pause).toBeLessThanOrEqual(full);
    }
    succeed(bucket, 1, 800_000);
    burst(bucket, 1)(limited(), 900_000);
    expect(bucket.pausedMs(900_000)).toBeLessThanOrEqual(500);
  });

  test('until the reset that its headers name, when it says nothing else', () => {
    const bucket = bucketOf();
    const rate = { 'requests-remaining': '0', 'requests-reset': new Date(21_000).toISOString() };
    burst(bucket, 1)({ kind: 'limited', overloaded: false, retryAfterMs: undefined, rate }, 1_000);
    expect(bucket.pausedMs(1_000)).toBe(20_000);
  });

  test('a success that used up the limit pauses as well, without narrowing', () => {
    const bucket = bucketOf();
    const rate = { 'tokens-remaining': '0', 'tokens-reset': new Date(21_000).toISOString() };
    burst(bucket, 1)({ kind: 'answered', rate }, 1_000);
    expect(bucket.pausedMs(1_000)).toBe(20_000);
    expect(bucket.size).toBe(100);
  });

  test('pauses for hours, when the provider asks for hours', () => {
    const bucket = bucketOf();
    burst(bucket, 5)(limited(7_200_000), 1_000);
    expect(bucket.pausedMs(1_000)).toBe(7_200_000);
    expect(bucket.longPausedSince).toBe(1_000);
  });

  test('after a long pause one request checks first, and the others follow when it is answered', () => {
    const bucket = bucketOf();
    const early = bucket.begin();
    burst(bucket, 5)(limited(7_200_000), 1_000);
    bucket.end(early, OK, 2_000);
    const over = 7_201_000;
    expect(bucket.hasRoom(over)).toBe(true);
    const looking = bucket.begin();
    expect(bucket.hasRoom(over)).toBe(false);
    bucket.end(looking, OK, over);
    burst(bucket, 1);
    expect(bucket.hasRoom(over)).toBe(true);
    expect(bucket.longPausedSince).toBeNull();
  });

  test('a request that checks and is refused again keeps all waiting', () => {
    const bucket = bucketOf();
    burst(bucket, 5)(limited(7_200_000), 1_000);
    burst(bucket, 1)(limited(3_600_000), 7_201_000);
    expect(bucket.hasRoom(7_201_000)).toBe(false);
    expect(bucket.longPausedSince).toBe(1_000);
  });

  test.each([
    ['reset of the limits', { 'tokens-remaining': '0', 'tokens-reset': new Date(7_201_000).toISOString() }],
    ['reset of the plan', { 'unified-status': 'rejected', 'unified-reset': '7201' }],
  ])('pauses until the %s that its headers name, hours away', (_, rate) => {
    const bucket = bucketOf();
    burst(bucket, 1)({ kind: 'limited', overloaded: false, retryAfterMs: undefined, rate }, 1_000);
    expect(bucket.pausedMs(1_000)).toBe(7_200_000);
  });

  test.each([0, -5, Number.NaN, Number.POSITIVE_INFINITY, 9e11])(
    'a pause of %d ms is none: it takes its own',
    (ms) => {
      const bucket = bucketOf();
      burst(bucket, 1)(limited(ms), 1_000);
      expect(bucket.pausedMs(1_000)).toBeGreaterThan(0);
      expect(bucket.pausedMs(1_000)).toBeLessThanOrEqual(500);
    },
  );
});

describe('LAUNCH-2: what processes tell each other', () => {
  const NOW = 1_000_000;
  const shared = { size: 3, limitedAt: NOW - 10, pausedUntil: NOW + 2_000, succeededAt: NOW - 50 };

  test('a refusal is told once', () => {
    const bucket = bucketOf();
    expect(bucket.news(NOW)).toBeNull();
    burst(bucket, 8)(limited(2_000), NOW);
    expect(bucket.news(NOW)).toEqual({
      size: 4,
      limitedAt: NOW,
      pausedUntil: NOW + 2_000,
      succeededAt: null,
    });
    expect(bucket.news(NOW)).toBeNull();
  });

  test('successes are told now and then, and only while a limit is felt', () => {
    const bucket = bucketOf();
    succeed(bucket, 1, NOW);
    expect(bucket.news(NOW)).toBeNull();
    burst(bucket, 1)(limited(100), NOW);
    bucket.news(NOW);
    succeed(bucket, 1, NOW + 1_000);
    expect(bucket.news(NOW + 1_000)).toBeNull();
    succeed(bucket, 1, NOW + 6_000);
    expect(bucket.news(NOW + 6_000)).toMatchObject({ succeededAt: NOW + 6_000 });
  });

  test('an idle process takes over the size and the pause of who was refused, and does not tell it on', () => {
    const bucket = bucketOf();
    bucket.adopt(shared, NOW);
    expect(bucket).toMatchObject({ size: 3, succeededAt: NOW - 50 });
    expect(bucket.pausedMs(NOW)).toBe(2_000);
    expect(bucket.news(NOW)).toBeNull();
  });

  test('a busy one halves its own when that leaves it more', () => {
    const bucket = bucketOf();
    burst(bucket, 20);
    bucket.adopt(shared, NOW);
    expect(bucket.size).toBe(10);
  });

  test('the same news does not narrow twice', () => {
    const bucket = bucketOf();
    bucket.adopt(shared, NOW);
    succeed(bucket, 3, NOW + 3_000);
    expect(bucket.size).toBe(4);
    bucket.adopt(shared, NOW + 3_000);
    expect(bucket.size).toBe(4);
  });

  test('a long pause of another process is checked by one request, and is over when that is answered', () => {
    const bucket = bucketOf();
    const long = { ...shared, pausedUntil: NOW + 7_200_000 };
    bucket.adopt(long, NOW);
    expect(bucket.hasRoom(NOW)).toBe(true);
    const looking = bucket.begin();
    expect(bucket.hasRoom(NOW)).toBe(false);
    expect(bucket.pausedMs(NOW)).toBe(7_200_000);
    bucket.end(looking, OK, NOW);
    bucket.adopt(long, NOW + 1_000);
    burst(bucket, 1);
    expect(bucket.hasRoom(NOW + 1_000)).toBe(true);
  });

  test('a request that checks and is refused waits as long as its own refusal says', () => {
    const bucket = bucketOf();
    bucket.adopt({ ...shared, pausedUntil: NOW + 7_200_000 }, NOW);
    burst(bucket, 1)(limited(3_600_000), NOW);
    bucket.adopt({ ...shared, pausedUntil: NOW + 7_200_500 }, NOW);
    expect(bucket.hasRoom(NOW)).toBe(false);
    expect(bucket.pausedMs(NOW)).toBe(3_600_000);
  });

  test.each([
    ['old', { limitedAt: NOW - 400_000, pausedUntil: NOW - 1 }],
    ['of the future, from a clock that was wrong', { limitedAt: NOW + 5_000, pausedUntil: NOW + 9e9 }],
    ['no numbers', { limitedAt: Number.NaN, pausedUntil: Number.NaN, size: Number.NaN }],
    ['no size', { size: 0, pausedUntil: 0 }],
  ])('news that is %s changes nothing', (_, part) => {
    const bucket = bucketOf();
    bucket.adopt({ ...shared, ...part }, NOW);
    expect(bucket.size).toBe(100);
    expect(bucket.pausedMs(NOW)).toBe(0);
  });
});
