import { describe, expect, test } from 'vitest';
import { addUsage, hitRate, NO_USAGE } from '../schema/usage.ts';
import { readChatUsage } from './openai/openai-assembler.ts';
import { costOf } from './prices.ts';
import { readUsage } from './wire.ts';

const GOOD = {
  input_tokens: 100,
  output_tokens: 20,
  cache_creation_input_tokens: 10,
  cache_read_input_tokens: 1_000,
};

describe('MODEL-3: an impossible number of a provider', () => {
  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 1.5, 1e15])(
    '%d is unknown, and the rest stays',
    (bad) => {
      const usage = readUsage({ ...GOOD, cache_read_input_tokens: bad }) ?? NO_USAGE;
      expect(usage).toEqual({
        ...NO_USAGE,
        ...GOOD,
        cache_read_input_tokens: 0,
        unknown: ['cache_read_input_tokens'],
      });
      const whole = costOf('claude-opus-5', readUsage({ ...GOOD, cache_read_input_tokens: 0 }) ?? NO_USAGE);
      expect(costOf('claude-opus-5', usage)).toMatchObject({ usd: null, atLeastUsd: whole.usd, parts: null });
      expect(hitRate(usage)).toBeNull();
    },
  );

  test.each(['input_tokens', 'output_tokens'] as const)('one for %s too', (name) => {
    const usage = readUsage({ ...GOOD, [name]: -1 });
    expect(usage).toMatchObject({ ...GOOD, [name]: 0, unknown: [name] });
  });

  test('a share for an hour that is more than the whole is unknown, and the whole is billed', () => {
    const usage = readUsage({ ...GOOD, cache_creation: { ephemeral_1h_input_tokens: 11 } }) ?? NO_USAGE;
    expect(usage).toMatchObject({ ...GOOD, unknown: ['cache_creation_1h_input_tokens'] });
    expect(costOf('claude-opus-5', usage).atLeastUsd).toBeCloseTo(
      (100 * 5 + 10 * 6.25 + 1_000 * 0.5 + 20 * 25) / 1e6,
    );
  });

  test('a whole that is unknown is at least its share for an hour', () => {
    const wire = {
      ...GOOD,
      cache_creation_input_tokens: -1,
      cache_creation: { ephemeral_1h_input_tokens: 7 },
    };
    const usage = readUsage(wire) ?? NO_USAGE;
    expect(usage.unknown).toEqual(['cache_creation_input_tokens']);
    expect(costOf('claude-opus-5', usage).atLeastUsd).toBeCloseTo(
      (100 * 5 + 7 * 10 + 1_000 * 0.5 + 20 * 25) / 1e6,
    );
  });

  test('a sum says at least what is known, for that count only', () => {
    const bad = readUsage({ ...GOOD, cache_read_input_tokens: -1 }) ?? NO_USAGE;
    const good = readUsage(GOOD) ?? NO_USAGE;
    expect(addUsage(good, bad)).toMatchObject({
      input_tokens: 200,
      cache_read_input_tokens: 1_000,
      unknown: ['cache_read_input_tokens'],
    });
    expect(addUsage(good, good)).not.toHaveProperty('unknown');
  });

  test.each([
    ['the prompt', { prompt_tokens: -1, completion_tokens: 5 }, ['input_tokens']],
    ['the answer', { prompt_tokens: 9, completion_tokens: Number.NaN }, ['output_tokens']],
    [
      'the cached part',
      { prompt_tokens: 9, completion_tokens: 5, cached_tokens: -1 },
      ['cache_read_input_tokens', 'input_tokens'],
    ],
  ])('a chat completion with one for %s', (_, wire, unknown) => {
    const usage = readChatUsage(wire);
    expect(usage?.unknown?.toSorted()).toEqual(unknown);
    expect(Object.values({ ...usage, unknown: 0 }).every((count) => Number(count) >= 0)).toBe(true);
  });

  test('counts that are missing are no counts at all', () => {
    expect(readUsage({ input_tokens: 1 })).toBeNull();
    expect(readUsage(null)).toBeNull();
    expect(readChatUsage({ prompt_tokens: 1 })).toBeNull();
  });
});
