import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { HeldPlace, Places } from './places.ts';

const { signal } = new AbortController();
const settle = (): Promise<void> => new Promise(setImmediate);

describe('LAUNCH-2: places for agents at work', () => {
  test('as many as there are are given at once, the rest in the order of asking', async () => {
    const places = new Places(2);
    const order: number[] = [];
    const all = [1, 2, 3, 4].map(async (number) => {
      expect(await places.take(signal)).toBe(true);
      order.push(number);
    });
    await settle();
    expect(order).toEqual([1, 2]);
    expect(places.waiting).toBe(2);
    expect(places.tryTake()).toBe(false);
    places.release();
    await settle();
    expect(order).toEqual([1, 2, 3]);
    places.release();
    await Promise.all(all);
    expect(order).toEqual([1, 2, 3, 4]);
    places.release();
    places.release();
    expect([places.tryTake(), places.tryTake(), places.tryTake()]).toEqual([true, true, false]);
  });

  test('one that comes back goes before those who never had a place', async () => {
    const places = new Places(1);
    await places.take(signal);
    const order: string[] = [];
    const fresh = places.take(signal).then(() => order.push('fresh'));
    const back = places.take(signal, true).then(() => order.push('back'));
    places.release();
    await back;
    places.release();
    await fresh;
    expect(order).toEqual(['back', 'fresh']);
  });

  test('one that aborts leaves the line, and nothing on its signal', async () => {
    const places = new Places(1);
    await places.take(signal);
    const abort = new AbortController();
    const given = places.take(abort.signal);
    const next = places.take(signal);
    abort.abort();
    expect(await given).toBe(false);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
    places.release();
    expect(await next).toBe(true);
    expect(await places.take(abort.signal)).toBe(false);
    expect(places.waiting).toBe(0);
  });
});

describe('LAUNCH-3: an agent that waits gives up its place', () => {
  test('others use it meanwhile, and it goes on when it has one again', async () => {
    const places = new Places(1);
    expect(places.tryTake()).toBe(true);
    const waits: boolean[] = [];
    const held = new HeldPlace(places, true, (value) => waits.push(value));
    const done = await held.whileWaiting(signal, async () => {
      expect(places.tryTake()).toBe(true);
      places.release();
      return 'waited';
    });
    expect(done).toBe('waited');
    expect(places.tryTake()).toBe(false);
    expect(waits).toEqual([true, false]);
    held.release();
    held.release();
    expect([places.tryTake(), places.tryTake()]).toEqual([true, false]);
  });

  test('it counts as waiting until it has its place back', async () => {
    const places = new Places(1);
    places.tryTake();
    const waits: boolean[] = [];
    const held = new HeldPlace(places, true, (value) => waits.push(value));
    const back = held.whileWaiting(signal, async () => void places.tryTake());
    await settle();
    expect(waits).toEqual([true]);
    places.release();
    await back;
    expect(waits).toEqual([true, false]);
  });

  test('one that begins to wait again before it is back goes on waiting', async () => {
    const places = new Places(1);
    places.tryTake();
    const waits: boolean[] = [];
    const held = new HeldPlace(places, true, (value) => waits.push(value));
    const gate = Promise.withResolvers<void>();
    const first = held.whileWaiting(signal, async () => void places.tryTake());
    await settle();
    const second = held.whileWaiting(signal, () => gate.promise);
    places.release();
    await first;
    expect(waits).toEqual([true]);
    expect(places.tryTake()).toBe(true);
    places.release();
    gate.resolve();
    await second;
    expect(waits).toEqual([true, false]);
    held.release();
    expect(places.tryTake()).toBe(true);
  });

  test('several waits side by side give it up once and take it back once', async () => {
    const places = new Places(1);
    places.tryTake();
    const waits: boolean[] = [];
    const held = new HeldPlace(places, true, (value) => waits.push(value));
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const all = gates.map(({ promise }) => held.whileWaiting(signal, () => promise));
    expect(places.tryTake()).toBe(true);
    places.release();
    gates[0]?.resolve();
    await settle();
    expect(places.tryTake()).toBe(true);
    places.release();
    gates[1]?.resolve();
    await Promise.all(all);
    expect(places.tryTake()).toBe(false);
    expect(waits).toEqual([true, false]);
    held.release();
    expect(places.tryTake()).toBe(true);
  });

  test('an aborted one goes on without, and gives nothing back that it does not have', async () => {
    const places = new Places(1);
    places.tryTake();
    const abort = new AbortController();
    const held = new HeldPlace(places, true, () => {});
    await held.whileWaiting(abort.signal, async () => {
      places.tryTake();
      abort.abort();
    });
    held.release();
    expect(places.tryTake()).toBe(false);
    places.release();
    expect(places.tryTake()).toBe(true);
  });

  test('the main agent needs none', async () => {
    const places = new Places(1);
    const main = new HeldPlace(places, false, () => {});
    await main.whileWaiting(signal, async () => {});
    main.release();
    expect([places.tryTake(), places.tryTake()]).toEqual([true, false]);
  });
});
