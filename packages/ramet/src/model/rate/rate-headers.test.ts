import { describe, expect, test } from 'vitest';
import { exhaustedUntil, rateHeaders } from './rate-headers.ts';

const NOW = Date.parse('2026-11-15T12:00:00Z');
const at = (ms: number): string => new Date(NOW + ms).toISOString();

describe('LAUNCH-2: rate-limit headers', () => {
  test('are read by their names', () => {
    const headers = { 'anthropic-ratelimit-tokens-remaining': '9000', 'content-type': 'x' };
    expect(rateHeaders(headers)).toEqual({ 'tokens-remaining': '9000' });
  });

  test('of chat completions servers get the same names, and times instead of spans', () => {
    const headers = { 'x-ratelimit-remaining-tokens': '90', 'x-ratelimit-reset-tokens': '6m0s' };
    expect(rateHeaders(headers, NOW)).toEqual({ 'tokens-remaining': '90', 'tokens-reset': at(360_000) });
  });

  test.each([
    ['7.66s', 7_660],
    ['120ms', 120],
    ['1h2m3s', 3_723_000],
    ['1s500ms', 1_500],
    ['0s', 0],
  ])('the span %s is understood', (text, ms) => {
    expect(rateHeaders({ 'x-ratelimit-reset-requests': text }, NOW)).toEqual({ 'requests-reset': at(ms) });
  });

  test.each(['', 'soon', '-5s', '5', '1731672000', '1d', '99999999999999s', '5s5', 'NaNs'])(
    'the span "%s" is left out',
    (text) => {
      expect(rateHeaders({ 'x-ratelimit-reset-requests': text }, NOW)).toEqual({});
    },
  );
});

describe('LAUNCH-2: a limit that is used up', () => {
  const used = (reset: string, remaining = '0') => ({
    'requests-remaining': remaining,
    'requests-reset': reset,
  });

  test('closes until its reset', () => {
    expect(exhaustedUntil(used(at(5_000)), NOW)).toBe(NOW + 5_000);
  });

  test('the latest reset counts when several are used up', () => {
    const rate = { ...used(at(5_000)), 'input-tokens-remaining': '0', 'input-tokens-reset': at(9_000) };
    expect(exhaustedUntil(rate, NOW)).toBe(NOW + 9_000);
  });

  test('one that has something left closes nothing', () => {
    const rate = { ...used(at(5_000), '1'), 'output-tokens-remaining': '0' };
    expect(exhaustedUntil(rate, NOW)).toBeNull();
    expect(exhaustedUntil({}, NOW)).toBeNull();
  });

  test.each([
    ['in the past', at(-1)],
    ['now', at(0)],
    ['too far away to wait for', at(60_001)],
    ['no time', 'tomorrow'],
    ['empty', ''],
    ['negative', '-5'],
  ])('a reset that is %s closes nothing', (_, reset) => {
    expect(exhaustedUntil(used(reset), NOW)).toBeNull();
  });

  test.each(['-1', '', 'none', '0, 0', '0x0', 'NaN'])(
    '"%s" left is not understood as nothing left',
    (left) => {
      expect(exhaustedUntil(used(at(5_000), left), NOW)).toBeNull();
    },
  );
});
