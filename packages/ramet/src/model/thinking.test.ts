import { describe, expect, test } from 'vitest';
import type { ThinkingConfig } from '../schema/content.ts';
import { MODELS } from './catalog.ts';
import {
  byEffort,
  byTokens,
  fitThinking,
  routineThinking,
  thinkingNote,
  withThinkingRoom,
} from './thinking.ts';

const HIGH = byEffort('high');
const tokens = (budget_tokens: number): ThinkingConfig => ({ type: 'enabled', budget_tokens });

const OPENAI = { name: 'openai', effortOnly: true } as const;

describe('RES-9: a model gets thinking in the form that it takes', () => {
  test.for<[string, ThinkingConfig, ThinkingConfig | null]>([
    ['claude-sonnet-5', HIGH, HIGH],
    ['claude-sonnet-5', tokens(9_000), byEffort('low')],
    ['claude-sonnet-5', tokens(10_000), byEffort('medium')],
    ['claude-sonnet-5', tokens(1_024), byEffort('low')],
    ['claude-fable-5', tokens(20_000), byEffort('high')],
    ['claude-fable-5', { type: 'disabled' }, byEffort('low')],
    ['claude-sonnet-5', tokens(900_000), byEffort('max')],
    ['claude-haiku-4-5', HIGH, tokens(20_000)],
    ['claude-haiku-4-5', tokens(9_000), tokens(9_000)],
    ['claude-haiku-4-5', tokens(900_000), tokens(60_000)],
    ['claude-opus-4-1', byEffort('max'), tokens(28_000)],
    ['claude-opus-4-6', HIGH, HIGH],
    ['claude-opus-4-6', tokens(9_000), tokens(9_000)],
    ['claude-3-5-haiku', HIGH, null],
    ['recipe', HIGH, null],
    ['of-another-maker', HIGH, HIGH],
    ['of-another-maker', tokens(9_000), tokens(9_000)],
  ])('%s', ([model, wanted, fitted]) => {
    expect(fitThinking(wanted, model)).toEqual(fitted);
  });

  test('nothing asked for is nothing sent, and what is off stays off', () => {
    expect(fitThinking(null, 'claude-sonnet-5')).toBeNull();
    expect(fitThinking({ type: 'disabled' }, 'claude-sonnet-5')).toEqual({ type: 'disabled' });
  });

  test('it is known of every listed model', () => {
    expect(MODELS.filter(({ thinking }) => thinking === undefined)).toEqual([]);
  });

  test('one line says where a model does otherwise', () => {
    expect(thinkingNote(HIGH, 'claude-sonnet-5')).toBeNull();
    expect(thinkingNote(tokens(9_000), 'claude-haiku-4-5')).toBeNull();
    expect(thinkingNote(HIGH, 'recipe')).toMatch(/^the model recipe does not think: .* no effect/);
    expect(thinkingNote(tokens(9_000), 'claude-sonnet-5')).toMatch(
      /takes no number .* effort low \(about 4,000 tokens\), which is no exact limit$/,
    );
    expect(thinkingNote(tokens(90_000), 'claude-haiku-4-5')).toMatch(/cannot think 90000 .* gets 60000$/);
    expect(thinkingNote({ type: 'disabled' }, 'claude-fable-5')).toMatch(/always thinks: .* effort low/);
    expect(thinkingNote({ type: 'disabled' }, 'claude-sonnet-5')).toBeNull();
  });

  test('and where a protocol does', () => {
    expect(thinkingNote(tokens(20_000), 'served-here', OPENAI)).toMatch(
      /openai .* effort high \(about 20,000/,
    );
    expect(thinkingNote(byEffort('max'), 'served-here', OPENAI)).toMatch(/no effort max: .* gets high$/);
    expect(thinkingNote(HIGH, 'served-here', OPENAI)).toBeNull();
  });

  test.for([0, 1_023, 1.5, Number.NaN, -5])('%s tokens are refused', (count) => {
    expect(() => byTokens(count)).toThrow(/at least 1024 tokens, not/);
  });
});

describe('RES-9: routine agents', () => {
  test('think at most 10,000 tokens, and never more than they would have', () => {
    const routine = (inherited: ThinkingConfig | null): ThinkingConfig | null =>
      routineThinking(inherited, 'claude-sonnet-5');
    expect(routine(tokens(50_000))).toEqual(tokens(10_000));
    expect(routine(tokens(2_000))).toEqual(tokens(2_000));
    expect(routine(byEffort('max'))).toEqual(byEffort('medium'));
    expect(routine(byEffort('low'))).toEqual(byEffort('low'));
    expect(routine(null)).toBeNull();
  });

  test.for<[string, ThinkingConfig | null]>([
    ['claude-fable-5', byEffort('medium')],
    ['claude-fable-5-2', byEffort('medium')],
    ['claude-opus-5-5', null],
    ['claude-haiku-4-5', null],
    ['of-another-maker', null],
  ])('are held to the cap also on a model that thinks unasked: %s', ([model, thinking]) => {
    expect(routineThinking(null, model)).toEqual(thinking);
  });

  test('no listed model that thinks goes beyond the cap, whatever its parent has', () => {
    for (const { id } of MODELS) {
      for (const inherited of [tokens(9_000), tokens(90_000), byEffort('high'), byEffort('max')]) {
        const fitted = fitThinking(routineThinking(inherited, id), id);
        if (fitted?.type === 'enabled') expect(fitted.budget_tokens).toBeLessThanOrEqual(10_000);
        if (fitted?.type === 'adaptive') expect(['low', 'medium']).toContain(fitted.effort);
      }
    }
  });
});

describe('RES-9: the room for an answer', () => {
  test('is above what thinking may take, and within what the model writes', () => {
    const room = (thinking: ThinkingConfig | null, model: string): number =>
      withThinkingRoom(16_000, { thinking, model });
    expect(room(null, 'claude-sonnet-5')).toBe(16_000);
    expect(room(HIGH, 'claude-sonnet-5')).toBe(36_000);
    expect(room(tokens(60_000), 'claude-haiku-4-5')).toBe(64_000);
    expect(room(tokens(100_000), 'of-another-maker')).toBeGreaterThan(100_000);
    for (const { id, mostOutput } of MODELS) {
      const fitted = fitThinking(byEffort('max'), id);
      if (fitted?.type === 'enabled') expect(room(fitted, id)).toBeGreaterThan(fitted.budget_tokens);
      if (fitted !== null) expect(room(fitted, id)).toBeLessThanOrEqual(mostOutput ?? 64_000);
    }
  });
});
