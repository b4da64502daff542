import { describe, expect, test } from 'vitest';
import type { Usage } from '../schema/usage.ts';
import { NO_USAGE } from '../schema/usage.ts';
import { CacheMap, type PlannedRequest } from './cache-map.ts';

const MINUTE = 60_000;
const plan = (prefixes: string[], startedAt: number, more: Partial<PlannedRequest> = {}): PlannedRequest => ({
  model: 'claude-sonnet-5',
  prefixes,
  ttl: '5m',
  bytes: 40_000,
  startedAt,
  ...more,
});
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
});
