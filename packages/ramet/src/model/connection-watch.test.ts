import { afterEach, describe, expect, test } from 'vitest';
import type { ModelError } from '../schema/errors.ts';
import { ConnectionWatch, DEFAULT_WATCH, type Watching } from './connection-watch.ts';

/** One request on a clock that is moved by hand; the watch's own timer never comes. */
function watched() {
  const time = { steady: 1_000, wall: 5_000_000 };
  const watch = new ConnectionWatch(DEFAULT_WATCH, { steady: () => time.steady, wall: () => time.wall });
  const seen: { error: ModelError | null; quiet: boolean[] } = { error: null, quiet: [] };
  let bytes = 0;
  const watching: Watching = watch.begin({
    bytesRead: () => bytes,
    fail: (error) => {
      seen.error = error;
    },
    onQuiet: (isQuiet) => seen.quiet.push(isQuiet),
  });
  open.push(watching);
  const pass = (ms: number, each: () => void = () => {}): void => {
    for (let left = ms; left > 0; left -= 2_500) {
      time.steady += Math.min(left, 2_500);
      time.wall += Math.min(left, 2_500);
      each();
      watch.look();
    }
  };
  const ping = (): void => {
    bytes += 10;
  };
  return { time, watch, watching, seen, pass, ping };
}

const open: Watching[] = [];
afterEach(() => {
  for (const watching of open.splice(0)) watching.end();
});

describe('MODEL-2: time limits of a request that are apart', () => {
  test('no byte for 90 s is a dead connection', () => {
    const { seen, pass } = watched();
    pass(90_000);
    expect(seen.error).toBeNull();
    pass(5_000);
    expect(seen.error).toMatchObject({ code: 'timeout', family: 'retryable' });
  });

  test('pings without content for 10 minutes are a stall, and not before', () => {
    const { seen, pass, ping } = watched();
    pass(597_500, ping);
    expect(seen.error).toBeNull();
    pass(5_000, ping);
    expect(seen.error).toMatchObject({ code: 'stalled', family: 'retryable' });
  });

  test('content for hours is neither', () => {
    const { seen, pass, ping, watching } = watched();
    pass(36_000_000, () => {
      ping();
      watching.heard();
    });
    expect(seen).toEqual({ error: null, quiet: [] });
  });

  test('a request without content is reported within 15 s, and so is its end', () => {
    const { seen, pass, ping, watching } = watched();
    pass(7_500, ping);
    expect(seen.quiet).toEqual([]);
    pass(5_000, ping);
    expect(seen.quiet).toEqual([true]);
    watching.heard();
    pass(2_500);
    expect(seen.quiet).toEqual([true, false]);
  });

  test('a process that was stopped for an hour reads what is there before it judges', () => {
    const { time, watch, seen, pass, ping } = watched();
    time.steady += 3_600_000;
    time.wall += 3_600_000;
    watch.look();
    expect(seen.error).toBeNull();
    ping();
    pass(80_000);
    expect(seen.error).toBeNull();
  });

  test('a process that was stopped before anything came asks again within seconds', () => {
    const { time, watch, seen, pass } = watched();
    pass(20_000);
    time.steady += 60_000;
    time.wall += 60_000;
    watch.look();
    expect(seen.error).toBeNull();
    pass(12_500);
    expect(seen.error).toMatchObject({ code: 'timeout', family: 'retryable' });
  });

  test('a stop takes no time from an answer that has begun', () => {
    const { time, watch, seen, pass, ping } = watched();
    pass(5_000);
    ping();
    pass(2_500);
    time.steady += 60_000;
    time.wall += 60_000;
    watch.look();
    pass(80_000);
    expect(seen.error).toBeNull();
  });

  test('after a sleep of the machine a silent connection is dead within seconds', () => {
    const { time, watch, seen, pass } = watched();
    time.wall += 600_000;
    time.steady += 100;
    watch.look();
    expect(seen.error).toBeNull();
    pass(12_500);
    expect(seen.error).toMatchObject({ code: 'timeout' });
  });

  test('one that shows life after the sleep continues', () => {
    const { time, watch, seen, pass, ping } = watched();
    time.wall += 600_000;
    watch.look();
    ping();
    pass(80_000);
    expect(seen.error).toBeNull();
  });

  test('a clock that is set back changes nothing', () => {
    const { time, seen, pass } = watched();
    time.wall -= 3_600_000;
    pass(95_000);
    expect(seen.error).toMatchObject({ code: 'timeout' });
  });
});
