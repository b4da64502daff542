import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PRICES } from '../../model/prices.ts';
import { NO_USAGE, type Usage } from '../../schema/usage.ts';
import { compareFork, type ForkCostFacts } from './fork-cost.ts';

/** Requests that each add `step` tokens to a prefix of `inherited`, all of which a cache holds. */
function requests(count: number, inherited: number, step: number): Usage[] {
  return Array.from({ length: count }, (_, index) => ({
    ...NO_USAGE,
    cache_read_input_tokens: inherited + index * step,
    cache_creation_input_tokens: step,
    output_tokens: 500,
  }));
}

function facts(changes: Partial<ForkCostFacts>): ForkCostFacts {
  return {
    inheritedTokens: 48_000,
    freshTokens: 4_700,
    usages: requests(6, 48_000, 1_000),
    model: 'claude-opus-4-6',
    prices: PRICES,
    ...changes,
  };
}

describe('LAUNCH-1: fork or fresh', () => {
  test('six requests on 48,000 inherited tokens cost twice a fresh agent, as measured', () => {
    const { forkTokens, freshTokens, forkUsd, freshUsd, dearer, advice } = compareFork(facts({}));
    // 6 x 48,000 and 15,000 of its own read, 6,000 written.
    expect(forkTokens).toBe(28_800 + 1_500 + 7_500);
    // 4,700 written once and read five times, the rest as before.
    expect(freshTokens).toBe(5_875 + 2_350 + 1_500 + 7_500);
    expect(forkTokens / freshTokens).toBeCloseTo(2.04, 0);
    expect(forkUsd).toBeCloseTo((forkTokens * 5) / 1e6, 9);
    expect(freshUsd).toBeCloseTo((freshTokens * 5) / 1e6, 9);
    expect(dearer).toBe(true);
    expect(advice).toBe(
      'A fresh agent would have cost less: about 17,225 instead of 37,800 input tokens ($0.0861 instead of $0.1890), as each of its 6 requests carried the 48,000 tokens of this conversation. Name a type when a task does not need them.',
    );
  });

  test('a fork of a short conversation is the cheaper choice, and nothing is said', () => {
    const short = facts({ inheritedTokens: 6_000, usages: requests(2, 6_000, 500) });
    expect(compareFork(short)).toMatchObject({ dearer: false, advice: null });
    expect(compareFork(short).forkTokens).toBeLessThan(compareFork(short).freshTokens);
  });

  test('a fresh agent whose like run already reads its beginning in the first request too', () => {
    const cold = compareFork(facts({})).freshTokens;
    expect(cold - compareFork(facts({ freshIsWarm: true })).freshTokens).toBe(Math.round(4_700 * 1.15));
  });

  test('an inheritance that had to be written is compared as written, for an hour at its price', () => {
    const written = {
      ...NO_USAGE,
      cache_creation_input_tokens: 48_000,
      cache_creation_1h_input_tokens: 48_000,
      input_tokens: 100,
    };
    const { forkTokens, freshTokens } = compareFork(facts({ usages: [written] }));
    expect(forkTokens).toBe(96_100);
    expect(freshTokens).toBe(4_700 * 1.25 + 100);
  });

  test('a difference too small to matter is not spoken of', () => {
    const small = facts({ inheritedTokens: 8_000, freshTokens: 1_000, usages: requests(1, 8_000, 10) });
    expect(compareFork(small).dearer).toBe(false);
    const close = facts({
      inheritedTokens: 200_000,
      freshTokens: 16_000,
      usages: requests(1, 200_000, 80_000),
    });
    const { forkTokens, freshTokens, dearer } = compareFork({ ...close, freshIsWarm: true });
    expect(forkTokens - freshTokens).toBeGreaterThan(2_000);
    expect(dearer).toBe(false);
  });

  test('dollars decide where they are known: a model that reads for little makes forks pay', () => {
    const cheapReads = [
      {
        models: ['house'],
        prices: { input: 10, write5m: 12.5, write1h: 20, read: 0.05, output: 50 },
        date: '2026-11-15',
        unconfirmed: false,
      },
    ];
    expect(compareFork(facts({ model: 'house', prices: cheapReads })).dearer).toBe(false);
  });

  test('MODEL-3: an unknown price stays unknown, and tokens decide', () => {
    const { forkUsd, freshUsd, dearer, advice } = compareFork(facts({ model: 'house-model' }));
    expect([forkUsd, freshUsd, dearer]).toEqual([null, null, true]);
    expect(advice).not.toContain('$');
  });

  test('requests after a compaction count alike for both', () => {
    const before = requests(2, 48_000, 1_000);
    const after = requests(3, 5_000, 1_000);
    const [all, some] = [
      compareFork(facts({ usages: [...before, ...after] })),
      compareFork(facts({ usages: before })),
    ];
    expect(all.forkTokens - some.forkTokens).toBe(all.freshTokens - some.freshTokens);
  });

  test('an estimate above what was really sent is scaled down, and an agent without a response costs nothing', () => {
    const high = compareFork(facts({ inheritedTokens: 98_000, freshTokens: 9_400 }));
    expect(high.freshTokens).toBeGreaterThan(0);
    expect(high.freshTokens).toBeLessThan(high.forkTokens);
    const none = compareFork(facts({ usages: [] }));
    expect(none).toEqual({
      forkTokens: 0,
      freshTokens: 0,
      forkUsd: 0,
      freshUsd: 0,
      dearer: false,
      advice: null,
    });
  });

  test('whatever the figures, no part of a cost is below zero, and output does not count', () => {
    const tokens = fc.nat(300_000);
    const usage = fc
      .record({
        input: tokens,
        written: tokens,
        hour: fc.double({ min: 0, max: 1, noNaN: true }),
        read: tokens,
      })
      .map(({ input, written, hour, read }) => ({
        ...NO_USAGE,
        input_tokens: input,
        cache_creation_input_tokens: written,
        cache_creation_1h_input_tokens: Math.floor(written * hour),
        cache_read_input_tokens: read,
        output_tokens: 1_000,
      }));
    fc.assert(
      fc.property(fc.array(usage), tokens, tokens, (usages, inheritedTokens, freshTokens) => {
        const compared = compareFork(facts({ usages, inheritedTokens, freshTokens }));
        expect(compared.freshTokens).toBeGreaterThanOrEqual(0);
        expect(compared.freshUsd).toBeGreaterThanOrEqual(0);
        const silent = usages.map((each) => ({ ...each, output_tokens: 0 }));
        expect(compareFork(facts({ usages: silent, inheritedTokens, freshTokens }))).toEqual(compared);
      }),
    );
  });
});
