import { describe, expect, test } from 'vitest';
import type { Usage } from '../../schema/usage.ts';
import { NO_USAGE } from '../../schema/usage.ts';
import { CacheMap, type CacheTtl, type PlannedRequest, type WatchedOutcome } from './cache-map.ts';

const MINUTE = 60_000;
const MODEL = 'claude-sonnet-5';

/** A request on the chain `links`, 10,000 tokens a block unless told otherwise, marked at `marks` or everywhere. */
function plan(
  links: string[],
  startedAt: number,
  more: { model?: string; ttl?: CacheTtl; bytes?: number; marks?: number[] } = {},
): PlannedRequest {
  const { model = MODEL, ttl = '5m', bytes = 40_000, marks = links.map((_, index) => index) } = more;
  return {
    model,
    chain: { linkAt: (index) => links[index], bytesAt: (index) => bytes * (index + 1) },
    marks: marks.map((index) => ({ index, ttl })),
    startedAt,
  };
}
const wrote: Usage = { ...NO_USAGE, cache_creation_input_tokens: 10_000 };

function answered(map: CacheMap, request: PlannedRequest, usage: Usage = wrote): void {
  map.requestStarted(request);
  map.responseBegan(request);
  map.responseCompleted(request, usage);
}

describe('MODEL-4: the cache map predicts cold, writing and warm', () => {
  test('a prefix is cold, then being written, then warm once the response has begun', () => {
    const map = new CacheMap();
    const request = plan(['a'], 0);
    expect(map.predict(request)).toBe('cold');
    map.requestStarted(request);
    expect(map.predict(plan(['a'], 10))).toBe('writing');
    map.responseBegan(request);
    expect(map.predict(plan(['a'], 20))).toBe('warm');
  });

  test('a longer prompt is warm when any of its marks is', () => {
    const map = new CacheMap();
    answered(map, plan(['system', 'one'], 0));
    expect(map.predict(plan(['system', 'one', 'two'], 1))).toBe('warm');
    expect(map.predict(plan(['other'], 1))).toBe('cold');
  });

  test('an entry lives from the start of the request that wrote or read it', () => {
    const map = new CacheMap();
    answered(map, plan(['a'], 0));
    expect(map.predict(plan(['a'], 5 * MINUTE))).toBe('cold');
    answered(map, plan(['a'], 4 * MINUTE));
    expect(map.predict(plan(['a'], 8 * MINUTE))).toBe('warm');
    answered(map, plan(['b'], 0, { ttl: '1h' }));
    expect(map.predict(plan(['b'], 59 * MINUTE))).toBe('warm');
  });

  test('a failed request leaves nothing behind, and takes nothing away', () => {
    const map = new CacheMap();
    answered(map, plan(['a'], 0));
    const request = plan(['a', 'b'], 1);
    map.requestStarted(request);
    map.requestFailed(request);
    expect(map.predict(plan(['b'], 2))).toBe('cold');
    expect(map.predict(plan(['a'], 2))).toBe('warm');
  });

  test('below the minimum of the model nothing is expected', () => {
    const map = new CacheMap();
    expect(map.predict(plan(['a'], 0, { bytes: 4 * 1_023 }))).toBe('below minimum');
    expect(map.predict(plan(['a'], 0, { bytes: 4 * 4_095, model: 'claude-haiku-4-5' }))).toBe(
      'below minimum',
    );
  });

  test('an unknown minimum is taken as 1,024 and learned from usage', () => {
    const map = new CacheMap();
    const request = plan(['a'], 0, { model: 'unheard-of', bytes: 4 * 2_000 });
    expect(map.minimum('unheard-of')).toBe(1_024);
    answered(map, request, { ...NO_USAGE, input_tokens: 2_000 });
    expect(map.minimum('unheard-of')).toBe(2_001);
    expect(map.predict({ ...request, startedAt: 1 })).toBe('below minimum');
  });

  test('a model that caches less than 1,024 tokens is learned too, with what it wrote', () => {
    const map = new CacheMap();
    const request = plan(['a'], 0, { model: 'unheard-of', bytes: 4 * 600 });
    answered(map, request, { ...NO_USAGE, cache_creation_input_tokens: 600 });
    expect(map.minimum('unheard-of')).toBe(600);
    expect(map.predict({ ...request, startedAt: 1 })).toBe('warm');
  });

  test('a marked prefix below the minimum is not written, though a longer one is', () => {
    const map = new CacheMap();
    answered(map, plan(['a', 'b'], 0, { bytes: 4 * 600 }));
    expect(map.stateOf('a', 1)).toBe('cold');
    expect(map.stateOf('b', 1)).toBe('readable');
  });

  test('a mark finds what was written up to 19 blocks before it, and no further', () => {
    const map = new CacheMap();
    const links = Array.from({ length: 22 }, (_, index) => `link ${index}`);
    answered(map, plan(links, 0, { marks: [1] }));
    expect(map.predict(plan(links, 1, { marks: [20] }))).toBe('warm');
    expect(map.predict(plan(links, 1, { marks: [21] }))).toBe('cold');
  });

  test('a child with another second system block reads what its parent wrote at the end of the first', () => {
    const map = new CacheMap();
    answered(map, plan(['common'], 0));
    const child = plan(['common', 'type', 'task'], 1, { marks: [1, 2] });
    expect(map.predict(child)).toBe('warm');
    expect(map.readableTokens(child, 1)).toBe(10_000);
  });

  test('of two writers the entry disappears only when both have failed', () => {
    const map = new CacheMap();
    const [one, two] = [plan(['a'], 0), plan(['a'], 1)];
    map.requestStarted(one);
    map.requestStarted(two);
    map.requestFailed(one);
    expect(map.stateOf('a', 2)).toBe('writing');
    map.requestFailed(two);
    expect(map.stateOf('a', 2)).toBe('cold');
  });

  test('a read keeps an entry alive for its own lifetime, also when the reader asks for a shorter one', () => {
    const map = new CacheMap();
    answered(map, plan(['a'], 0, { ttl: '1h' }));
    answered(map, plan(['a'], 30 * MINUTE), { ...NO_USAGE, cache_read_input_tokens: 10_000 });
    expect(map.readableUntil('a', 80 * MINUTE)).toBe(90 * MINUTE);
    expect(map.readableUntil('a', 90 * MINUTE)).toBeNull();
  });

  test('RES-5: ten thousand agents leave it bounded, and what all of them share is still known', () => {
    const map = new CacheMap();
    for (let agent = 0; agent < 10_000; agent++) answered(map, plan(['system', `end of ${agent}`], agent));
    expect(map.stateOf('end of 0', 10_000)).toBe('cold');
    expect(map.stateOf('end of 9999', 10_000)).toBe('readable');
    expect(map.stateOf('system', 10_000)).toBe('readable');
  });

  test('what was expected and not read is taken back: only what the request wrote is there', () => {
    const map = new CacheMap();
    answered(map, plan(['a', 'b', 'c'], 0, { marks: [0] }));
    const request = plan(['a', 'b', 'c'], 1, { marks: [2] });
    expect(map.predict(request)).toBe('warm');
    answered(map, request, wrote);
    expect(map.stateOf('a', 2)).toBe('cold');
    expect(map.stateOf('c', 2)).toBe('readable');
  });
});

describe('MODEL-4: who waits for a prefix is told', () => {
  function watching(map: CacheMap): WatchedOutcome[] {
    const told: WatchedOutcome[] = [];
    map.watch('a', (outcome) => told.push(outcome));
    return told;
  }

  test('at once and once, when the response begins', () => {
    const map = new CacheMap();
    const request = plan(['a'], 0);
    map.requestStarted(request);
    const told = watching(map);
    map.responseBegan(request);
    map.responseBegan(request);
    map.responseCompleted(request, wrote);
    expect(told).toEqual(['readable']);
  });

  test('when the last writer fails, and not when the first of two does', () => {
    const map = new CacheMap();
    const [one, two] = [plan(['a'], 0), plan(['a'], 1)];
    map.requestStarted(one);
    map.requestStarted(two);
    const told = watching(map);
    map.requestFailed(two);
    expect(told).toEqual([]);
    map.requestFailed(one);
    expect(told).toEqual(['gone']);
  });

  test('who has stopped watching is not told', () => {
    const map = new CacheMap();
    const told: WatchedOutcome[] = [];
    map.watch('a', (outcome) => told.push(outcome))();
    answered(map, plan(['a'], 0));
    expect(told).toEqual([]);
  });
});
