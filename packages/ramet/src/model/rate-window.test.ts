import { describe, expect, test } from 'vitest';
import type { RateStore, SharedRate } from '../journal/machine-rates.ts';
import { type SimulatedClock, simulatedClock } from '../testing/simulated-clock.ts';
import type { RateOutcome } from './rate-bucket.ts';
import { bucketName, createRateWindow, type RateTicket, type RateWindow } from './rate-window.ts';
import { DEFAULT_RETRY } from './retry.ts';

const OK: RateOutcome = { kind: 'answered', rate: {} };
const limited = (retryAfterMs?: number): RateOutcome => ({
  kind: 'limited',
  overloaded: false,
  retryAfterMs,
  rate: undefined,
});
const provider = { name: 'test', origin: 'http://127.0.0.1:1' };
const never = new AbortController().signal;

function windowOf(
  concurrentRequests = 100,
  clock = simulatedClock(1_000_000),
  store: RateStore | null = null,
) {
  const window = createRateWindow({ provider, clock, policy: DEFAULT_RETRY, concurrentRequests, store });
  return { clock, window };
}

/** Lets everything go on that can. */
const settled = (clock: SimulatedClock): Promise<void> =>
  clock.advance(0).then(() => new Promise((resolve) => setImmediate(resolve)));

/** Requests under way by name, in the order in which they got their tickets. */
function starting(window: RateWindow) {
  const tickets = new Map<string, RateTicket>();
  const waited: string[] = [];
  const cancelled: string[] = [];
  const request = (name: string, { model = 'm', signal = never } = {}) => {
    const rate = window.request(model);
    const acquire = (): void => {
      rate
        .acquire(signal, () => waited.push(name))
        .then(
          (ticket) => tickets.set(name, ticket),
          (error) => cancelled.push(`${name}: ${error.code}`),
        );
    };
    acquire();
    return { rate, acquire };
  };
  return { tickets, waited, cancelled, request, started: () => [...tickets.keys()] };
}

describe('LAUNCH-2: who may send', () => {
  test('who finds room goes at once and is not told to wait', async () => {
    const { window, clock } = windowOf();
    const run = starting(window);
    run.request('a');
    await settled(clock);
    expect(run.started()).toEqual(['a']);
    expect(run.waited).toEqual([]);
    expect(clock.due()).toEqual([]);
  });

  test('who finds none waits, and starts in order as others end', async () => {
    const { window, clock } = windowOf(2);
    const run = starting(window);
    for (const name of ['a', 'b', 'c', 'd', 'e']) run.request(name);
    await settled(clock);
    expect(run.started()).toEqual(['a', 'b']);
    expect(run.waited).toEqual(['c', 'd', 'e']);
    run.tickets.get('b')?.release(OK);
    await settled(clock);
    expect(run.started()).toEqual(['a', 'b', 'c']);
    run.tickets.get('a')?.release({ kind: 'failed' });
    run.tickets.get('c')?.release(OK);
    await settled(clock);
    expect(run.started()).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('a ticket that is released twice counts once', async () => {
    const { window, clock } = windowOf(1);
    const run = starting(window);
    for (const name of ['a', 'b', 'c']) run.request(name);
    await settled(clock);
    run.tickets.get('a')?.release(OK);
    run.tickets.get('a')?.release(OK);
    await settled(clock);
    expect(run.started()).toEqual(['a', 'b']);
  });

  test('an aborted waiter leaves at once and holds up nobody', async () => {
    const { window, clock } = windowOf(1);
    const run = starting(window);
    const leaving = new AbortController();
    run.request('a');
    run.request('b', { signal: leaving.signal });
    run.request('c');
    leaving.abort();
    await settled(clock);
    expect(run.cancelled).toEqual(['b: cancelled']);
    run.tickets.get('a')?.release(OK);
    await settled(clock);
    expect(run.started()).toEqual(['a', 'c']);
  });

  test('who comes aborted gets nothing', async () => {
    const { window, clock } = windowOf(1);
    const run = starting(window);
    run.request('a', { signal: AbortSignal.abort() });
    run.request('b');
    await settled(clock);
    expect(run.cancelled).toEqual(['a: cancelled']);
    expect(run.started()).toEqual(['b']);
  });

  test('who aborts or fails on being told to wait leaves no trace', async () => {
    const { window, clock } = windowOf(1);
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
    await settled(clock);
    expect(run.started()).toEqual(['a', 'b']);
  });

  test('the bound holds over all models of a session, and the first to come is the first to go', async () => {
    const { window, clock } = windowOf(2);
    const run = starting(window);
    run.request('a', { model: 'x' });
    run.request('b', { model: 'x' });
    run.request('c', { model: 'y' });
    run.request('d', { model: 'x' });
    await settled(clock);
    expect(run.started()).toEqual(['a', 'b']);
    run.tickets.get('a')?.release(OK);
    await settled(clock);
    expect(run.started()).toEqual(['a', 'b', 'c']);
  });
});

describe('LAUNCH-2: after a refusal', () => {
  test('nobody sends before the pause is over, and then no more than the narrowed window', async () => {
    const { window, clock } = windowOf();
    const run = starting(window);
    const [first] = ['a', 'b', 'c', 'd'].map((name) => run.request(name));
    await settled(clock);
    for (const ticket of run.tickets.values()) ticket.release(limited(3_000));
    run.tickets.clear();
    expect(first?.rate.pausedMs()).toBe(3_000);
    for (const name of ['e', 'f', 'g']) run.request(name);
    await clock.advance(2_999);
    expect(run.started()).toEqual([]);
    await clock.advance(1);
    expect(run.started()).toEqual(['e', 'f']);
    expect(clock.due()).toEqual([]);
  });

  test('who was refused keeps its place before those who came later', async () => {
    const { window, clock } = windowOf(1);
    const run = starting(window);
    const a = run.request('a');
    run.request('b');
    await settled(clock);
    run.tickets.get('a')?.release(limited(1_000));
    run.tickets.clear();
    a.acquire();
    await clock.advance(1_000);
    expect(run.started()).toEqual(['a']);
    expect(a.rate.waitedMs).toBe(1_000);
  });

  test('another model is not concerned', async () => {
    const { window, clock } = windowOf();
    const run = starting(window);
    run.request('a', { model: 'x' });
    await settled(clock);
    run.tickets.get('a')?.release(limited(1_000));
    run.request('b', { model: 'y' });
    await settled(clock);
    expect(run.started()).toContain('b');
  });

  test('a pause that is extended while some wait for it is waited for to its end', async () => {
    const { window, clock } = windowOf();
    const run = starting(window);
    run.request('a');
    run.request('b');
    await settled(clock);
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
    await settled(clock);
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
    await settled(clock);
    run.tickets.get('a')?.release(limited(1_000));
    run.request('b');
    window.close();
    expect(clock.due()).toEqual([]);
  });
});

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
    await settled(clock);
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
    await settled(clock);
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
