import { describe, expect, test } from 'vitest';
import { systemClock } from './clock.ts';

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
});
