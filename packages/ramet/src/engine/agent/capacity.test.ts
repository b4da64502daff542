import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { Capacity, HeldCapacity } from './capacity.ts';

const { signal } = new AbortController();
const settle = (): Promise<void> => new Promise(setImmediate);

describe('LAUNCH-3: how many agents run at once', () => {
  test('as many as the limit begin at once, the rest in the order of asking', async () => {
    const capacity = new Capacity(2);
    const order: number[] = [];
    const all = [1, 2, 3, 4].map(async (number) => {
      expect(await capacity.take(signal)).toBe(true);
      order.push(number);
    });
    await settle();
    expect(order).toEqual([1, 2]);
    expect(capacity.waiting).toBe(2);
    expect(capacity.tryTake()).toBe(false);
    capacity.release();
    await settle();
    expect(order).toEqual([1, 2, 3]);
    capacity.release();
    await Promise.all(all);
    expect(order).toEqual([1, 2, 3, 4]);
    capacity.release();
    capacity.release();
    expect([capacity.tryTake(), capacity.tryTake(), capacity.tryTake()]).toEqual([true, true, false]);
  });

  test('one that comes back goes before those that never ran', async () => {
    const capacity = new Capacity(1);
    await capacity.take(signal);
    const order: string[] = [];
    const fresh = capacity.take(signal).then(() => order.push('fresh'));
    const back = capacity.take(signal, true).then(() => order.push('back'));
    capacity.release();
    await back;
    capacity.release();
    await fresh;
    expect(order).toEqual(['back', 'fresh']);
  });

  test('one that aborts leaves the line, and nothing on its signal', async () => {
    const capacity = new Capacity(1);
    await capacity.take(signal);
    const abort = new AbortController();
    const given = capacity.take(abort.signal);
    const next = capacity.take(signal);
    abort.abort();
    expect(await given).toBe(false);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
    capacity.release();
    expect(await next).toBe(true);
    expect(await capacity.take(abort.signal)).toBe(false);
    expect(capacity.waiting).toBe(0);
  });
});

describe('LAUNCH-3: an agent that waits does not count', () => {
  test('others run meanwhile, and it continues when it has a share again', async () => {
    const capacity = new Capacity(1);
    expect(capacity.tryTake()).toBe(true);
    const waits: boolean[] = [];
    const held = new HeldCapacity(capacity, true, (value) => waits.push(value));
    const done = await held.whileWaiting(signal, async () => {
      expect(capacity.tryTake()).toBe(true);
      capacity.release();
      return 'waited';
    });
    expect(done).toBe('waited');
    expect(capacity.tryTake()).toBe(false);
    expect(waits).toEqual([true, false]);
    held.release();
    held.release();
    expect([capacity.tryTake(), capacity.tryTake()]).toEqual([true, false]);
  });

  test('it counts as waiting until it has its share back', async () => {
    const capacity = new Capacity(1);
    capacity.tryTake();
    const waits: boolean[] = [];
    const held = new HeldCapacity(capacity, true, (value) => waits.push(value));
    const back = held.whileWaiting(signal, async () => void capacity.tryTake());
    await settle();
    expect(waits).toEqual([true]);
    capacity.release();
    await back;
    expect(waits).toEqual([true, false]);
  });

  test('one that begins to wait again before it is back keeps waiting', async () => {
    const capacity = new Capacity(1);
    capacity.tryTake();
    const waits: boolean[] = [];
    const held = new HeldCapacity(capacity, true, (value) => waits.push(value));
    const gate = Promise.withResolvers<void>();
    const first = held.whileWaiting(signal, async () => void capacity.tryTake());
    await settle();
    const second = held.whileWaiting(signal, () => gate.promise);
    capacity.release();
    await first;
    expect(waits).toEqual([true]);
    expect(capacity.tryTake()).toBe(true);
    capacity.release();
    gate.resolve();
    await second;
    expect(waits).toEqual([true, false]);
    held.release();
    expect(capacity.tryTake()).toBe(true);
  });

  test('several waits side by side give it up once and take it back once', async () => {
    const capacity = new Capacity(1);
    capacity.tryTake();
    const waits: boolean[] = [];
    const held = new HeldCapacity(capacity, true, (value) => waits.push(value));
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const all = gates.map(({ promise }) => held.whileWaiting(signal, () => promise));
    expect(capacity.tryTake()).toBe(true);
    capacity.release();
    gates[0]?.resolve();
    await settle();
    expect(capacity.tryTake()).toBe(true);
    capacity.release();
    gates[1]?.resolve();
    await Promise.all(all);
    expect(capacity.tryTake()).toBe(false);
    expect(waits).toEqual([true, false]);
    held.release();
    expect(capacity.tryTake()).toBe(true);
  });

  test('an aborted one continues without a share, and returns none that it does not have', async () => {
    const capacity = new Capacity(1);
    capacity.tryTake();
    const abort = new AbortController();
    const held = new HeldCapacity(capacity, true, () => {});
    await held.whileWaiting(abort.signal, async () => {
      capacity.tryTake();
      abort.abort();
    });
    held.release();
    expect(capacity.tryTake()).toBe(false);
    capacity.release();
    expect(capacity.tryTake()).toBe(true);
  });

  test('the main agent needs none', async () => {
    const capacity = new Capacity(1);
    const main = new HeldCapacity(capacity, false, () => {});
    await main.whileWaiting(signal, async () => {});
    main.release();
    expect([capacity.tryTake(), capacity.tryTake()]).toEqual([true, false]);
  });
});
