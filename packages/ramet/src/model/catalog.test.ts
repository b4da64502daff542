import { describe, expect, test } from 'vitest';
import { findModel, MODEL_TIERS, MODELS, minimumCacheable, resolveModel } from './catalog.ts';
import { costOf } from './prices.ts';

describe('model catalog', () => {
  test.each([
    ['claude-opus-5', 512],
    ['claude-fable-5', 512],
    ['claude-mythos-5', 512],
    ['claude-opus-4-8', 1024],
    ['claude-sonnet-5', 1024],
    ['claude-sonnet-4-6', 1024],
    ['claude-sonnet-4-5-20250929', 1024],
    ['claude-opus-4-1-20250805', 1024],
    ['claude-opus-4-20250514', 1024],
    ['claude-sonnet-4-0', 1024],
    ['claude-opus-4-7', 2048],
    ['claude-mythos-preview', 2048],
    ['claude-3-5-haiku-latest', 2048],
    ['claude-opus-4-6', 4096],
    ['claude-opus-4-5-20251101', 4096],
    ['claude-haiku-4-5', 4096],
  ])('%s caches from %i tokens', (model, tokens) => {
    expect(minimumCacheable(model)).toBe(tokens);
  });

  test.each(['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5', 'claude-fable-5-1', 'gpt-9', ''])(
    'the minimum of %j is unknown, not a number',
    (model) => {
      expect(minimumCacheable(model)).toBeUndefined();
    },
  );

  test('an id that only begins like a listed one is not that model', () => {
    expect(findModel('claude-opus-5-mini')).toBeUndefined();
    expect(findModel('claude-opus-5-2026')).toBeUndefined();
    expect(findModel('constructor')).toBeUndefined();
  });

  test.each([
    ['claude-opus-4-5', 'kept'],
    ['claude-sonnet-4-6', 'kept'],
    ['claude-opus-5', 'kept'],
    ['claude-opus-4-1', 'stripped'],
    ['claude-sonnet-4-5', 'stripped'],
    ['claude-haiku-4-5', 'stripped'],
    ['claude-opus-5-5', undefined],
    ['claude-haiku-5-5', undefined],
  ])('thinking of finished turns on %s: %s', (model, retention) => {
    expect(findModel(model)?.retention).toBe(retention);
  });

  test.each([
    ['claude-fable-5-1', 'conversation'],
    ['claude-opus-5-5', 'conversation'],
    ['claude-sonnet-5-5', 'conversation'],
    ['claude-haiku-5-5', 'account'],
    ['claude-sonnet-5', 'none'],
    ['claude-fable-5-2', undefined],
  ])('thinking of %s is bound to: %s', (model, binding) => {
    expect(findModel(model)?.binding).toBe(binding);
  });

  test('no name stands for two models', () => {
    const names = MODELS.flatMap((facts) => [facts.id, ...(facts.aliases ?? [])]);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('MODEL-1: tiers', () => {
  test('a tier stands for its default model', () => {
    expect(MODEL_TIERS.map((tier) => resolveModel(tier, {}))).toEqual([
      'claude-haiku-4-5',
      'claude-sonnet-5',
      'claude-opus-5',
      'claude-fable-5',
    ]);
  });

  test('the default of every tier has a confirmed price and a known minimum', () => {
    for (const tier of MODEL_TIERS) {
      const model = resolveModel(tier, {});
      expect(minimumCacheable(model)).toBeGreaterThan(0);
      const usage = {
        input_tokens: 1,
        cache_creation_input_tokens: 2,
        cache_creation_1h_input_tokens: 1,
        cache_read_input_tokens: 1,
        output_tokens: 1,
      };
      expect(costOf(model, usage)).toMatchObject({ usd: expect.any(Number), unconfirmed: false });
    }
  });

  test('RAMET_MODEL_<TIER> replaces the default, an empty value does not', () => {
    expect(resolveModel('haiku', { RAMET_MODEL_HAIKU: 'local-7b' })).toBe('local-7b');
    expect(resolveModel('opus', { RAMET_MODEL_OPUS: ' ' })).toBe('claude-opus-5');
    expect(resolveModel('sonnet', { RAMET_MODEL_OPUS: 'other' })).toBe('claude-sonnet-5');
  });

  test('any other name passes through unchanged', () => {
    for (const name of ['claude-opus-5-5', 'llama3:8b', 'Haiku', 'toString']) {
      expect(resolveModel(name, { RAMET_MODEL_HAIKU: 'x' })).toBe(name);
    }
  });

  test('MODEL-1: on an openai server a tier stands only for what a variable says', () => {
    expect(resolveModel('sonnet', { RAMET_MODEL_SONNET: 'qwen3' }, 'openai')).toBe('qwen3');
    expect(resolveModel('gpt-x', {}, 'openai')).toBe('gpt-x');
    expect(() => resolveModel('sonnet', {}, 'openai')).toThrow(/--model, or set RAMET_MODEL_SONNET$/);
  });
});
