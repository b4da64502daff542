import { describe, expect, test } from 'vitest';
import {
  limited,
  never,
  OK,
  provider,
  settled,
  starting,
  windowOf,
} from '../../../test/fixtures/rate-senders.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import type { RateStore, SharedRate } from './machine-rates.ts';
import { bucketName } from './rate-lane.ts';

describe('LAUNCH-2: the window of the machine', () => {
  /** What two processes share, with the reads and writes counted. */
  function sharedStore() {
    const rates = new Map<string, SharedRate>();
    const counts = { reads: 0, writes: 0 };
    const store: RateStore = {
      read(bucket) {
        counts.reads += 1;
        return rates.get(bucket) ?? null;
      },
      write(bucket, rate) {
        counts.writes += 1;
        rates.set(bucket, rate);
      },
      close() {},
    };
    return { store, counts, rates };
  }

  test('a refusal of one holds back the other', async () => {
    const { store } = sharedStore();
    const { window: one, clock } = windowOf(100, simulatedClock(1_000_000), store);
    const { window: other } = windowOf(100, clock, store);
    const first = starting(one);
    const second = starting(other);
    first.request('a');
    await settled();
    first.tickets.get('a')?.release(limited(3_000));
    second.request('b');
    await clock.advance(2_999);
    expect(second.started()).toEqual([]);
    await clock.advance(1);
    expect(second.started()).toEqual(['b']);
  });

  test('who waits for a pause sees a longer one before it sends', async () => {
    const { store } = sharedStore();
    const { window: one, clock } = windowOf(100, simulatedClock(1_000_000), store);
    const { window: other } = windowOf(100, clock, store);
    const first = starting(one);
    const second = starting(other);
    for (const name of ['a', 'b']) first.request(name);
    await settled();
    first.tickets.get('a')?.release(limited(1_000));
    second.request('c');
    await clock.advance(500);
    first.tickets.get('b')?.release(limited(2_000));
    await clock.advance(1_999);
    expect(second.started()).toEqual([]);
    await clock.advance(1);
    expect(second.started()).toEqual(['c']);
  });

  test('the store is not asked for every request, and told nothing while all is well', async () => {
    const { store, counts } = sharedStore();
    const { window, clock } = windowOf(100, simulatedClock(1_000_000), store);
    const rate = window.request('m');
    for (let sent = 0; sent < 1_000; sent++) (await rate.acquire(never)).release(OK);
    expect(counts).toEqual({ reads: 1, writes: 0 });
    await clock.advance(1_000);
    (await rate.acquire(never)).release(OK);
    expect(counts).toEqual({ reads: 2, writes: 0 });
  });

  test('a bucket has one name per provider, address and model, and the name tells no secret', () => {
    const names = [
      bucketName(provider, 'm'),
      bucketName(provider, 'n'),
      bucketName({ ...provider, name: 'other' }, 'm'),
      bucketName({ ...provider, origin: 'http://127.0.0.1:2' }, 'm'),
      bucketName({ name: 'test' }, 'm'),
    ];
    expect(new Set(names).size).toBe(names.length);
    expect(bucketName({ ...provider }, 'm')).toBe(names[0]);
    expect(names.join()).not.toContain('127.0.0.1');
  });
});

describe('MODEL-2: a limit that is remembered, and a provider that is away', () => {
  const FAILED = { kind: 'failed' } as const;
  const HOURS = 7_200_000;

  /** A process that finds a long limit of an earlier one, with three requests; the first has gone out to check it. */
  async function checking() {
    const clock = simulatedClock(1_000_000);
    const rate: SharedRate = {
      size: 4,
      limitedAt: clock.now(),
      pausedUntil: clock.now() + HOURS,
      succeededAt: null,
    };
    const { window } = windowOf(100, clock, { read: () => rate, write() {}, close() {} });
    const run = starting(window);
    const requests = new Map(['a', 'b', 'c'].map((name) => [name, run.request(name)]));
    await settled();
    expect(run.started()).toEqual(['a']);
    /** The one under way ends, and asks again if it is to. */
    const fail = async (name: string, sign: 'away' | 'none' | 'life', again = true): Promise<void> => {
      run.tickets.get(name)?.release(FAILED, sign);
      run.tickets.delete(name);
      if (again) requests.get(name)?.acquire();
      await settled();
    };
    return { clock, run, window, fail };
  }

  test('the one that checks the limit looks again after the pause of the outage, not of the limit', async () => {
    const { clock, run, fail } = await checking();
    await fail('a', 'away');
    expect(run.started()).toEqual([]);
    await clock.advance(500);
    expect(run.started()).toEqual(['a']);
    await fail('a', 'away');
    await clock.advance(1_000);
    expect(run.started()).toEqual(['a']);
  });

  test('those who wait learn that they wait for the provider, and of the limit once it is confirmed', async () => {
    const causes: string[] = [];
    const { clock, run, window, fail } = await checking();
    void window.request('m').acquire(never, (_, cause) => void causes.push(cause));
    await fail('a', 'away');
    expect(causes).toEqual(['limit', 'provider']);
    await clock.advance(500);
    run.tickets.get('a')?.release(limited(HOURS));
    expect(causes).toEqual(['limit', 'provider', 'limit']);
  });

  test('all follow when it is answered at last', async () => {
    const { clock, run, fail } = await checking();
    await fail('a', 'away');
    await clock.advance(500);
    run.tickets.get('a')?.began();
    run.tickets.get('a')?.release(OK);
    await settled();
    expect(run.started()).toEqual(['a', 'b', 'c']);
  });

  test('where it gives up, is stopped or dies, the next one checks', async () => {
    const { clock, run, fail } = await checking();
    await fail('a', 'away', false);
    await clock.advance(500);
    expect(run.started()).toEqual(['b']);
    await fail('b', 'none', false);
    expect(run.started()).toEqual(['c']);
  });

  test('after a response that was cut off or refused for another reason the next one checks at once', async () => {
    const { clock, run, fail } = await checking();
    await clock.advance(1);
    run.tickets.get('a')?.began();
    await fail('a', 'away', false);
    expect(run.started()).toEqual(['b']);
    await fail('b', 'life', false);
    expect(run.started()).toEqual(['c']);
  });

  test('one that checks and hangs is followed by another only when it ends', async () => {
    const { clock, run, fail } = await checking();
    await clock.advance(60_000);
    expect(run.started()).toEqual(['a']);
    await fail('a', 'away');
    await clock.advance(500);
    expect(run.started()).toEqual(['a']);
  });

  test('a limit that is confirmed then holds all back until its end', async () => {
    const { clock, run, fail } = await checking();
    await fail('a', 'away');
    await clock.advance(500);
    run.tickets.get('a')?.release(limited(HOURS));
    run.tickets.clear();
    await clock.advance(HOURS - 1);
    expect(run.started()).toEqual([]);
    await clock.advance(1);
    expect(run.started()).toEqual(['b']);
  });
});
