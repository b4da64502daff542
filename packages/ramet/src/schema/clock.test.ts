import { describe, expect, test, vi } from 'vitest';
import { simulatedClock } from '../testing/simulated-clock.ts';
import { LONGEST_TIMER_MS, sleepThrough, steadyClock, systemClock, timeLeft, waitUntil } from './clock.ts';

function timersThatKeepAlive(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
}

describe('the clock of the system', () => {
  test('a sleep keeps the process alive unless it is told not to', async () => {
    const before = timersThatKeepAlive();
    const over = new AbortController();
    const quiet = systemClock.sleep(60_000, over.signal, { keepsAlive: false });
    expect(timersThatKeepAlive()).toBe(before);
    const usual = systemClock.sleep(60_000, over.signal);
    expect(timersThatKeepAlive()).toBe(before + 1);
    over.abort();
    await Promise.all([quiet, usual]);
    expect(timersThatKeepAlive()).toBe(before);
  });

  test('a sleep that should be over already ends, without a warning of Node', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    try {
      await systemClock.sleep(-2_346.2);
      expect(warn).not.toHaveBeenCalled();
    } finally {
      warn.mockRestore();
    }
  });
});

describe('RES-2: sleeps that are longer than a timer can be', () => {
  test.for([2_147_483_648, 3_000_000_000, 1e13])('%i ms do not end at once, and end', async (ms) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const over = new AbortController();
      let isOver = false;
      const sleeping = systemClock.sleep(ms, over.signal).then(() => {
        isOver = true;
      });
      await vi.advanceTimersByTimeAsync(LONGEST_TIMER_MS);
      expect([isOver, vi.getTimerCount()]).toEqual([false, 1]);
      if (ms < 1e10) await vi.advanceTimersByTimeAsync(ms - LONGEST_TIMER_MS);
      else over.abort();
      await sleeping;
      expect([isOver, vi.getTimerCount()]).toEqual([true, 0]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('MODEL-2: a steady clock', () => {
  test('does not follow a clock that is set back', async () => {
    const wall = simulatedClock(5_000);
    const clock = steadyClock(wall);
    wall.set(-3_600_000);
    expect(clock.now()).toBe(5_000);
    await wall.advance(3_000);
    expect(clock.now()).toBe(8_000);
  });

  test('follows one that is ahead, as after a sleep of the machine', async () => {
    const wall = simulatedClock(5_000);
    const clock = steadyClock(wall);
    wall.set(600_000);
    expect(clock.now()).toBe(605_000);
    wall.set(-600_000);
    await wall.advance(1_000);
    expect(clock.now()).toBe(606_000);
  });

  test.each([
    ['set back by an hour', -3_600_000, 60_000],
    ['slept for ten minutes', 600_000, 5_000],
  ])('a wait of a minute on a clock that %s takes as long as it should', async (_, by, expected) => {
    const wall = simulatedClock(5_000);
    const clock = steadyClock(wall);
    let over = false;
    void sleepThrough(clock, 60_000, new AbortController().signal).then(() => {
      over = true;
    });
    wall.set(by);
    await wall.advance(expected - 1);
    expect(over).toBe(false);
    await wall.advance(1);
    expect(over).toBe(true);
  });
});

const HOUR = 3_600_000;

describe('MODEL-2: what is left of a wait', () => {
  test.each([
    ['set back by an hour', -HOUR, 50_000],
    ['set forward by an hour', HOUR, 0],
    ['stood still while the machine slept for 20 s', 20_000, 30_000],
    ['is right', 0, 50_000],
  ])('is told as it is when the clock %s', async (_, by, left) => {
    const wall = simulatedClock(5_000);
    const leftOf = timeLeft(60_000, wall);
    await wall.advance(10_000);
    wall.set(by);
    expect(leftOf()).toBe(left);
  });

  test.each([-HOUR, 0])('is recorded with its end on a clock that was set by %d ms before', (by) => {
    const wall = simulatedClock(5_000);
    const clock = steadyClock(wall);
    wall.set(by);
    expect(waitUntil(clock.now() + 60_000, clock)).toEqual({ until: 5_000 + by + 60_000, leftMs: 60_000 });
  });
});
