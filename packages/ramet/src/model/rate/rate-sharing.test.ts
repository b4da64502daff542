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
