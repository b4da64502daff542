import { describe, expect, test } from 'vitest';
import { NO_USAGE, type Usage } from '../schema/usage.ts';
import { MODELS } from './catalog.ts';
import { costOf, PRICES } from './prices.ts';

function usage(part: Partial<Usage>): Usage {
  return { ...NO_USAGE, ...part };
}

const M = 1_000_000;

describe('MODEL-3: searches of the web', () => {
  test('each is billed besides the tokens, and the price is marked as not confirmed', () => {
    const tokens = { ...NO_USAGE, input_tokens: 1_000_000 };
    const plain = costOf('claude-opus-5', tokens);
    const searched = costOf('claude-opus-5', { ...tokens, web_search_requests: 3 });
    expect(searched.usd).toBeCloseTo((plain.usd ?? 0) + 0.03, 10);
    expect(searched.parts?.search).toBeCloseTo(0.03, 10);
    expect([plain.unconfirmed, searched.unconfirmed]).toEqual([false, true]);
  });
});

describe('MODEL-3: prices are data', () => {
  test.each([
    ['claude-fable-5', 10, 12.5, 20, 1, 50],
    ['claude-mythos-5-1', 10, 12.5, 20, 0.25, 50],
    ['claude-opus-5-5', 4, 5, 8, 0.2, 20],
    ['claude-opus-5', 5, 6.25, 10, 0.5, 25],
    ['claude-opus-4-5-20251101', 5, 6.25, 10, 0.5, 25],
    ['claude-opus-4-1', 15, 18.75, 30, 1.5, 75],
    ['claude-sonnet-5-5', 2, 2.5, 4, 0.1, 10],
    ['claude-sonnet-5', 2, 2.5, 4, 0.2, 10],
    ['claude-sonnet-4-5-20250929', 3, 3.75, 6, 0.3, 15],
    ['claude-haiku-4-5-20251001', 1, 1.25, 2, 0.1, 5],
    ['claude-3-5-haiku-20241022', 0.8, 1, 1.6, 0.08, 4],
  ])('a million tokens of each kind on %s', (model, input, write5m, write1h, read, output) => {
    const cost = costOf(
      model,
      usage({
        input_tokens: M,
        cache_creation_input_tokens: 2 * M,
        cache_creation_1h_input_tokens: M,
        cache_read_input_tokens: M,
        output_tokens: M,
      }),
    );
    expect(cost.parts).toEqual({ input, write5m, write1h, read, output });
    expect(cost.usd).toBeCloseTo(input + write5m + write1h + read + output, 10);
  });

  test('one request is costed to a fraction of a cent', () => {
    const cost = costOf(
      'claude-sonnet-5',
      usage({
        input_tokens: 1234,
        cache_creation_input_tokens: 5678,
        cache_read_input_tokens: 90_123,
        output_tokens: 456,
      }),
    );
    expect(cost.usd).toBeCloseTo(0.002468 + 0.014195 + 0.0180246 + 0.00456, 12);
    expect(cost.unconfirmed).toBe(false);
  });

  test('reading is not a tenth of the input price everywhere', () => {
    const ratio = (model: string) => {
      const [{ prices } = { prices: undefined }] = PRICES.filter((row) => row.models.includes(model));
      return (prices?.read ?? Number.NaN) / (prices?.input ?? Number.NaN);
    };
    expect(ratio('claude-opus-5')).toBeCloseTo(0.1);
    expect(ratio('claude-opus-5-5')).toBeCloseTo(0.05);
    expect(ratio('claude-fable-5-1')).toBeCloseTo(0.025);
  });

  test.each(['claude-fable-5-2', 'claude-mythos-5-2', 'gpt-9', 'claude-opus-5-mini', ''])(
    'the cost of %j is unknown, never zero, even of no tokens',
    (model) => {
      expect(costOf(model, NO_USAGE)).toEqual({ usd: null, atLeastUsd: 0, unconfirmed: false, parts: null });
    },
  );

  test('prices known only from excerpts say so', () => {
    const unconfirmed = MODELS.filter(({ id }) => costOf(id, NO_USAGE).unconfirmed).map(({ id }) => id);
    expect(unconfirmed).toEqual([
      'claude-fable-5-1',
      'claude-mythos-5-1',
      'claude-opus-5-5',
      'claude-sonnet-5-5',
      'claude-haiku-5-5',
    ]);
  });

  test('a table given by the caller replaces the built-in one', () => {
    const table = [
      {
        models: ['local'],
        prices: { input: 1, write5m: null, write1h: null, read: null, output: 2 },
        date: '2026-11-15',
        unconfirmed: false,
      },
      ...PRICES,
    ];
    expect(costOf('local', usage({ input_tokens: M, output_tokens: M }), table).usd).toBe(3);
    expect(costOf('local', usage({ cache_read_input_tokens: 1 }), table).usd).toBeNull();
    expect(costOf('claude-opus-5', usage({ input_tokens: M }), table).usd).toBe(5);
  });

  test('a 1 h share larger than the whole write has no cost', () => {
    expect(costOf('claude-opus-5', usage({ cache_creation_1h_input_tokens: 5 })).usd).toBeNull();
    expect(costOf('claude-opus-5', usage({ input_tokens: Number.NaN })).usd).toBeNull();
  });
});

describe('MODEL-3: the tiered model', () => {
  test.each([
    [100_000, 0, 0.01],
    [100_001, 0, 0.0500005],
    [60_000, 40_000, 0.0064],
    [60_000, 40_001, 0.03200005],
  ])('with %i new and %i cached tokens the whole prompt decides the price', (input, read, usd) => {
    const cost = costOf('claude-haiku-5-5', usage({ input_tokens: input, cache_read_input_tokens: read }));
    expect(cost.usd).toBeCloseTo(usd, 12);
  });

  test('the unknown 1 h write above the threshold makes the cost unknown only where it is needed', () => {
    const write = { cache_creation_input_tokens: 10, cache_creation_1h_input_tokens: 10 };
    expect(costOf('claude-haiku-5-5', usage({ ...write, input_tokens: 1 })).usd).not.toBeNull();
    expect(costOf('claude-haiku-5-5', usage({ ...write, input_tokens: 100_000 })).usd).toBeNull();
    expect(costOf('claude-haiku-5-5', usage({ input_tokens: 100_001 })).usd).not.toBeNull();
  });
});
