import { describe, expect, test } from 'vitest';
import { ModelError } from '../schema/errors.ts';
import { mayHaveCost, mostCost, PRICES } from './prices.ts';

const request = { model: 'claude-sonnet-5', bytes: 2_000_000, maxTokens: 100_000, ttl: null };

describe('MODEL-3: what a request without a response costs at most', () => {
  test.each([
    ['as it is', request, 2 + 1],
    ['written to the cache', { ...request, ttl: '5m' as const }, 2.5 + 1],
    ['written for an hour', { ...request, ttl: '1h' as const }, 4 + 1],
    ['without output', { ...request, maxTokens: 0 }, 2],
  ])('%s', (_, asked, expected) => {
    expect(mostCost(asked, PRICES)).toBeCloseTo(expected, 9);
  });

  test('is unknown for a model without a price', () => {
    expect(mostCost({ ...request, model: 'another-model' }, PRICES)).toBeNull();
  });

  const lost = (code: string): ModelError =>
    new ModelError('connection', 'retryable', code, { cause: Object.assign(new Error(code), { code }) });

  test.each([
    ['a connection that was reset', lost('ECONNRESET'), true],
    ['silence', new ModelError('timeout', 'retryable', 'silent'), true],
    ['a connection that was never made', lost('ECONNREFUSED'), false],
    ['a name that is not known', lost('ENOTFOUND'), false],
    ['no descriptor left', lost('EMFILE'), false],
    ['a refusal', new ModelError('api_error', 'retryable', 'x', { status: 500 }), false],
  ])('%s may have cost something: %#', (_, error, expected) => {
    expect(mayHaveCost(error)).toBe(expected);
  });
});
