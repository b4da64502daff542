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
import { createRateWindow } from './rate-window.ts';
import { DEFAULT_RETRY } from './retry.ts';

describe('LAUNCH-2: who may send', () => {
  test('who finds room goes at once and is not told to wait', async () => {
    const { window, clock } = windowOf();
    const run = starting(window);
    run.request('a');
    await settled();
    expect(run.started()).toEqual(['a']);
    expect(run.waited).toEqual([]);
    expect(clock.due()).toEqual([]);
  });

  test('who finds none waits, and starts in order as others end', async () => {
    const { window } = windowOf(2);
    const run = starting(window);
    for (const name of ['a', 'b', 'c', 'd', 'e']) run.request(name);
    await settled();
    expect(run.started()).toEqual(['a', 'b']);
    expect(run.waited).toEqual(['c', 'd', 'e']);
    run.tickets.get('b')?.release(OK);
    await settled();
    expect(run.started()).toEqual(['a', 'b', 'c']);
    run.tickets.get('a')?.release({ kind: 'failed' });
    run.tickets.get('c')?.release(OK);
    await settled();
    expect(run.started()).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('a ticket that is released twice counts once', async () => {
    const { window } = windowOf(1);
    const run = starting(window);
    for (const name of ['a', 'b', 'c']) run.request(name);
    await settled();
    run.tickets.get('a')?.release(OK);
    run.tickets.get('a')?.release(OK);
    await settled();
    expect(run.started()).toEqual(['a', 'b']);
  });

  test('an aborted waiter leaves at once and holds up nobody', async () => {
    const { window } = windowOf(1);
    const run = starting(window);
    const leaving = new AbortController();
    run.request('a');
    run.request('b', { signal: leaving.signal });
    run.request('c');
    leaving.abort();
    await settled();
    expect(run.cancelled).toEqual(['b: cancelled']);
    run.tickets.get('a')?.release(OK);
    await settled();
    expect(run.started()).toEqual(['a', 'c']);
  });

  test('who comes aborted gets nothing', async () => {
    const { window } = windowOf(1);
    const run = starting(window);
    run.request('a', { signal: AbortSignal.abort() });
    run.request('b');
    await settled();
    expect(run.cancelled).toEqual(['a: cancelled']);
    expect(run.started()).toEqual(['b']);
  });

  test('who aborts or fails on being told to wait leaves no trace', async () => {
    const { window } = windowOf(1);
    const run = starting(window);
    run.request('a');
    const leaving = new AbortController();
    const aborted = window.request('m').acquire(leaving.signal, () => leaving.abort());
    await expect(aborted).rejects.toMatchObject({ code: 'cancelled' });
    const failed = window.request('m').acquire(never, () => {
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    run.request('b');
    run.tickets.get('a')?.release(OK);
    await settled();
    expect(run.started()).toEqual(['a', 'b']);
  });

  test('the bound holds over all models of a session, and the first to come is the first to go', async () => {
    const { window } = windowOf(2);
    const run = starting(window);
    run.request('a', { model: 'x' });
    run.request('b', { model: 'x' });
    run.request('c', { model: 'y' });
    run.request('d', { model: 'x' });
    await settled();
    expect(run.started()).toEqual(['a', 'b']);
    run.tickets.get('a')?.release(OK);
    await settled();
    expect(run.started()).toEqual(['a', 'b', 'c']);
  });
});

describe('LAUNCH-2: a pause of hours', () => {
  const HOURS = 7_200_000;

  test('those who wait learn until when, also when they waited before it was known', async () => {
    const { window, clock } = windowOf(1);
    const told: (number | null)[] = [];
    const first = await window.request('m').acquire(never);
    void window.request('m').acquire(never, (until) => told.push(until));
    expect(told).toEqual([null]);
    first.release(limited(HOURS));
    expect(told).toEqual([null, clock.now() + HOURS]);
  });

  test('a request with less patience leaves, and learns when it ends', async () => {
    const { window, clock } = windowOf(1);
    const first = await window.request('m').acquire(never);
    const impatient = window.request('m', 180_000).acquire(never);
    first.release(limited(HOURS));
    await expect(impatient).rejects.toMatchObject({ code: 'usage_limit', until: clock.now() + HOURS });
    const later = window.request('m', 180_000).acquire(never);
    await expect(later).rejects.toMatchObject({ code: 'usage_limit' });
  });

  test.each([
    ['is told when it lasts longer than anybody is to wait', HOURS, 1],
    ['is waited out when it does not', 60_000, 0],
  ])('%s', async (_, pauseMs, times) => {
    const clock = simulatedClock(1_000_000);
    const tooLong: [string, number][] = [];
    const window = createRateWindow({
      provider,
      clock,
      policy: DEFAULT_RETRY,
      longestWaitMs: 3_600_000,
      onTooLong: (model, until) => tooLong.push([model, until]),
    });
    (await window.request('m').acquire(never)).release(limited(pauseMs));
    expect(tooLong).toEqual(Array(times).fill(['m', clock.now() + pauseMs]));
  });

  test('interrupts nobody where another model takes over: those requests leave', async () => {
    const clock = simulatedClock(1_000_000);
    const tooLong: string[] = [];
    const options = { provider, clock, policy: DEFAULT_RETRY, longestWaitMs: 30_000 };
    const window = createRateWindow({ ...options, onTooLong: (model) => tooLong.push(model) });
    const replaced = window.request('m', 180_000);
    expect(replaced.patienceMs).toBe(30_000);
    const first = await replaced.acquire(never);
    first.release(limited(60_000));
    await expect(replaced.acquire(never)).rejects.toMatchObject({ code: 'usage_limit' });
    await expect(window.request('m', 180_000).acquire(never)).rejects.toMatchObject({ code: 'usage_limit' });
    expect(tooLong).toEqual([]);
    void window.request('m').acquire(never);
    expect(tooLong).toEqual(['m']);
  });
});

describe('LAUNCH-2: after a refusal', () => {
  test('nobody sends before the pause is over, and then no more than the narrowed window', async () => {
    const { window, clock } = windowOf();
    const run = starting(window);
    const [first] = [...'abcdefgh'].map((name) => run.request(name));
    await settled();
    for (const ticket of run.tickets.values()) ticket.release(limited(3_000));
    run.tickets.clear();
    expect(first?.rate.pausedMs()).toBe(3_000);
    for (const name of 'uvwxyz') run.request(name);
    await clock.advance(2_999);
    expect(run.started()).toEqual([]);
    await clock.advance(1);
    expect(run.started()).toEqual(['u', 'v', 'w', 'x']);
    expect(clock.due()).toEqual([]);
  });

  test('who was refused keeps its place before those who came later', async () => {
    const { window, clock } = windowOf(1);
    const run = starting(window);
    const a = run.request('a');
    run.request('b');
    await settled();
    run.tickets.get('a')?.release(limited(1_000));
    run.tickets.clear();
    a.acquire();
    await clock.advance(1_000);
    expect(run.started()).toEqual(['a']);
    expect(a.rate.waitedMs).toBe(1_000);
  });

  test('a pause that ends while a request learns of it does not hold the request for ever', async () => {
    const { window, clock } = windowOf();
    const first = await window.request('m').acquire(never);
    first.release(limited(1_000));
    const ticket = window.request('m').acquire(never, () => void clock.advance(1_000));
    await expect(Promise.race([ticket, settled().then(() => 'held')])).resolves.not.toBe('held');
  });

  test('who comes when the pause is just over stands behind those who waited for it', async () => {
    const { window, clock } = windowOf(1);
    const run = starting(window);
    run.request('a');
    await settled();
    void clock.sleep(1_000).then(() => run.request('late'));
    run.tickets.get('a')?.release(limited(1_000));
    run.request('b');
    await clock.advance(1_000);
    expect(run.started()).toEqual(['a', 'b']);
  });

  test('another model is not concerned', async () => {
    const { window } = windowOf();
    const run = starting(window);
    run.request('a', { model: 'x' });
    await settled();
    run.tickets.get('a')?.release(limited(1_000));
    run.request('b', { model: 'y' });
    await settled();
    expect(run.started()).toContain('b');
  });

  test('a pause that is extended while some wait for it is waited for to its end', async () => {
    const { window, clock } = windowOf();
    const run = starting(window);
    run.request('a');
    run.request('b');
    await settled();
    run.tickets.get('a')?.release(limited(1_000));
    run.request('c');
    await clock.advance(500);
    run.tickets.get('b')?.release(limited(2_000));
    await clock.advance(1_999);
    expect(run.started()).not.toContain('c');
    await clock.advance(1);
    expect(run.started()).toContain('c');
  });

  test('no timer is left when all who waited have gone, and who comes next waits again', async () => {
    const { window, clock } = windowOf();
    const run = starting(window);
    run.request('a');
    await settled();
    run.tickets.get('a')?.release(limited(1_000));
    const leaving = new AbortController();
    run.request('b', { signal: leaving.signal });
    expect(clock.due()).toHaveLength(1);
    leaving.abort();
    expect(clock.due()).toEqual([]);
    run.request('c');
    await clock.advance(1_000);
    expect(run.started()).toEqual(['a', 'c']);
  });

  test('closing ends its timer', async () => {
    const { window, clock } = windowOf();
    const run = starting(window);
    run.request('a');
    await settled();
    run.tickets.get('a')?.release(limited(1_000));
    run.request('b');
    window.close();
    expect(clock.due()).toEqual([]);
  });
});
