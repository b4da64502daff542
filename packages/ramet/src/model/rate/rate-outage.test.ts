import { describe, expect, test } from 'vitest';
import { limited, never, OK, settled, starting, windowOf } from '../../../test/fixtures/rate-senders.ts';
import { RateOutage } from './rate-outage.ts';

const FAILED = { kind: 'failed' } as const;

describe('MODEL-2: whether a provider is away', () => {
  const outage = (): RateOutage => new RateOutage({ baseMs: 1_000, capMs: 8_000 });

  test('a failure while others are answered says nothing', () => {
    const seen = outage();
    seen.alive(150);
    seen.failed(100, 200);
    expect(seen.since).toBeNull();
    expect(seen.waitMs(200)).toBe(0);
  });

  test('failures of one moment count once, and pauses grow with each further one, up to a bound', () => {
    const seen = outage();
    for (const started of [10, 20, 30]) seen.failed(started, 100);
    expect(seen.since).toBe(100);
    expect(seen.waitMs(100)).toBeGreaterThanOrEqual(750);
    expect(seen.waitMs(100)).toBeLessThanOrEqual(1_000);
    let now = 100;
    for (let failure = 0; failure < 10; failure++) {
      now += seen.waitMs(now);
      seen.begin(now);
      seen.failed(now, now);
    }
    expect(seen.waitMs(now)).toBeGreaterThanOrEqual(6_000);
    expect(seen.waitMs(now)).toBeLessThanOrEqual(8_000);
    expect(seen.since).toBe(100);
  });

  test('the last look is when patience ends, not after', () => {
    const seen = new RateOutage({ baseMs: 1_000, capMs: 32_000, patienceMs: 8_000 });
    let now = 100;
    seen.failed(now, now);
    while (now < 8_100) {
      now += seen.waitMs(now);
      seen.begin(now);
      seen.failed(now, now);
    }
    expect(now).toBe(8_100);
  });

  test('one looks at a time; one that hangs is followed by another', () => {
    const seen = outage();
    seen.failed(10, 100);
    const due = 100 + seen.waitMs(100);
    expect(seen.begin(due)).toBe(true);
    expect(seen.waitMs(due)).toBe(15_000);
    expect(seen.waitMs(due + 15_000)).toBe(0);
    seen.lookedInVain();
    expect(seen.waitMs(due)).toBe(0);
  });

  test('time in which nobody could look does not count', () => {
    const seen = outage();
    seen.failed(10, 100);
    const due = 100 + seen.waitMs(100);
    seen.begin(due + 3_600_000);
    expect([seen.since, seen.asleepMs]).toEqual([3_600_100, 3_600_000]);
    seen.failed(due + 3_600_000, due + 3_600_050);
    expect(seen.since).toBe(3_600_100);
    seen.woke(9_000_000, 1_000_000);
    seen.begin(9_000_001);
    expect([seen.since, seen.asleepMs]).toEqual([4_600_100, 4_600_000]);
  });

  test('of a look that lasted while the machine slept or the process was stopped little counts', () => {
    const seen = outage();
    seen.failed(10, 100);
    const due = 100 + seen.waitMs(100);
    seen.begin(due);
    seen.failed(due, due + 3_600_000, 3_599_000);
    expect(seen.asleepMs).toBe(3_599_000);
    const next = due + 3_600_000 + seen.waitMs(due + 3_600_000);
    seen.begin(next);
    seen.failed(next, next + 3_600_000);
    expect(seen.asleepMs).toBe(3_599_000 + 3_480_000);
  });

  test('who is asked for it looks at once, also beside one that hangs, and the next pause is as long as ever', () => {
    const seen = outage();
    for (const at of [10, 2_000, 6_000]) seen.failed(at, at + 1);
    expect(seen.waitMs(6_001)).toBeGreaterThan(2_000);
    seen.lookNow();
    expect(seen.waitMs(6_001)).toBe(0);
    expect(seen.begin(6_001)).toBe(true);
    seen.lookNow();
    expect(seen.waitMs(6_002)).toBe(0);
    seen.begin(6_002);
    seen.failed(6_002, 6_003);
    expect(seen.waitMs(6_003)).toBeGreaterThan(5_000);
  });

  test('a sign of life ends it', () => {
    const seen = outage();
    seen.failed(10, 100);
    expect(seen.alive(200)).toBe(true);
    expect(seen.alive(201)).toBe(false);
    expect(seen.since).toBeNull();
    expect(seen.begin(300)).toBe(false);
  });
});

describe('MODEL-2: many requests and a provider that is away', () => {
  test('one looks, the others follow with its first sign of life', async () => {
    const { window, clock } = windowOf();
    const run = starting(window);
    const names = ['a', 'b', 'c', 'd'];
    const requests = new Map(names.map((name) => [name, run.request(name)]));
    await settled();
    for (const name of names) run.tickets.get(name)?.release(FAILED, 'away');
    run.tickets.clear();
    for (const name of names) requests.get(name)?.acquire();
    await settled();
    expect(run.started()).toEqual([]);
    await clock.advance(500);
    expect(run.started()).toEqual(['a']);
    expect(run.tickets.get('a')?.looks).toBe(true);
    await clock.advance(5_000);
    expect(run.started()).toEqual(['a']);
    run.tickets.get('a')?.began();
    await settled();
    expect(run.started()).toEqual(names);
  });

  test('lookNow lets the first of those that wait look, and leaves limits alone', async () => {
    const { window, clock } = windowOf();
    const run = starting(window);
    (await window.request('m').acquire(never)).release(FAILED, 'away');
    run.request('a');
    run.request('b');
    (await window.request('limited').acquire(never)).release(limited(30_000));
    run.request('c', { model: 'limited' });
    await settled();
    expect(run.started()).toEqual([]);
    window.lookNow();
    await settled();
    expect(run.started()).toEqual(['a']);
    await clock.advance(30_000);
    expect(run.started()).toContain('c');
  });

  test('the next one looks after its pause, not later', async () => {
    const { window, clock } = windowOf();
    const run = starting(window);
    (await window.request('m').acquire(never)).release(FAILED, 'away');
    const first = run.request('a');
    run.request('b');
    await clock.advance(500);
    expect(run.started()).toEqual(['a']);
    run.tickets.get('a')?.release(FAILED, 'away');
    run.tickets.clear();
    first.acquire();
    await clock.advance(1_000);
    expect(run.started()).toEqual(['a']);
  });

  test.each([
    ['the machine slept', 20_000],
    ['nothing was late', 0],
  ])('whether one looks before its pause is over, when %s', async (_, slept) => {
    const { window, clock } = windowOf();
    const run = starting(window);
    const request = run.request('a');
    await settled();
    // The pauses double until they are half a minute long.
    for (let failures = 0; failures < 9; failures++) {
      run.tickets.get('a')?.release(FAILED, 'away');
      run.tickets.clear();
      request.acquire();
      if (failures < 8) await clock.advance(32_000);
    }
    expect(run.started()).toEqual([]);
    clock.set(slept);
    await clock.advance(1_000);
    expect(run.started()).toEqual(slept > 0 ? ['a'] : []);
  });

  test('for ten minutes it is asked some tens of times, however many wait', async () => {
    const { window, clock } = windowOf();
    const run = starting(window);
    let sent = 0;
    const requests = Array.from({ length: 50 }, (_, index) => run.request(String(index)));
    await settled();
    for (const [index, { acquire }] of requests.entries()) {
      run.tickets.get(String(index))?.release(FAILED, 'away');
      run.tickets.delete(String(index));
      acquire();
    }
    for (let second = 0; second < 600; second++) {
      await clock.advance(1_000);
      for (const [name, ticket] of [...run.tickets]) {
        sent += 1;
        run.tickets.delete(name);
        ticket.release(FAILED, 'away');
        requests[Number(name)]?.acquire();
      }
    }
    expect(sent).toBeGreaterThan(15);
    expect(sent).toBeLessThan(40);
  });

  test('who has another model to fall back to does not wait for others to look', async () => {
    const { window } = windowOf();
    (await window.request('m').acquire(never)).release(FAILED, 'away');
    const ticket = await window.request('m', 180_000).acquire(never);
    ticket.release(OK);
  });

  test('one that looks and is cancelled leaves it to the next', async () => {
    const { window, clock } = windowOf();
    const run = starting(window);
    (await window.request('m').acquire(never)).release(FAILED, 'away');
    run.request('a');
    run.request('b');
    await clock.advance(1_000);
    expect(run.started()).toEqual(['a']);
    run.tickets.get('a')?.release(FAILED, 'none');
    await settled();
    expect(run.started()).toEqual(['a', 'b']);
  });
});
