import { describe, expect, test } from 'vitest';
import { costOf, overridePrices, PRICES } from './prices.ts';

const USAGE = {
  input_tokens: 1_000_000,
  cache_creation_input_tokens: 0,
  cache_creation_1h_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 1_000_000,
};

describe('MODEL-3: prices that a user states', () => {
  test('come before the table, and what is not stated stays as it was', () => {
    const table = overridePrices(PRICES, { 'claude-sonnet-5': { input: 1 } });
    expect(costOf('claude-sonnet-5', USAGE, table).usd).toBe(11);
    expect(costOf('claude-sonnet-5-20260801', USAGE, table).usd).toBe(11);
    expect(costOf('claude-opus-5', USAGE, table).usd).toBe(30);
  });

  test('give a model that nobody lists a price, as far as they go', () => {
    const table = overridePrices(PRICES, { 'house-1': { input: 1, output: 2 } });
    expect(costOf('house-1', USAGE, table)).toMatchObject({ usd: 3, unconfirmed: false });
    expect(costOf('house-1', { ...USAGE, cache_read_input_tokens: 1 }, table).usd).toBeNull();
  });

  test('count for prompts of every length', () => {
    const table = overridePrices(PRICES, { 'claude-haiku-5-5': { input: 7, output: undefined } });
    expect(costOf('claude-haiku-5-5', { ...USAGE, output_tokens: 0 }, table).usd).toBe(7);
    expect(costOf('claude-haiku-5-5', { ...USAGE, input_tokens: 10 }, table).parts?.output).toBe(0.5);
  });
});
