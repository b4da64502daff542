import { describe, expect, test } from 'vitest';
import {
  decideKeepWarm,
  decideLifetime,
  type KeepWarmFacts,
  type LifetimeFacts,
} from './decide-keep-warm.ts';

const prices = { write5m: 2.5, write1h: 4, read: 0.2 };

describe('FORK-7: a waiting agent keeps its prefix as long as that is cheaper', () => {
  const facts: KeepWarmFacts = { tokens: 100_000, prices, ttl: '5m', refreshes: 0, waitedMs: 270_000 };

  test.each<[string, Partial<KeepWarmFacts>, string]>([
    ['the first refresh is', {}, 'refresh'],
    ['eleven refreshes are: 2.2 is less than 2.5 - 0.2', { refreshes: 10 }, 'refresh'],
    ['twelve are not', { refreshes: 11 }, 'lapse'],
    ['an entry of an hour is worth more of them', { ttl: '1h', refreshes: 17 }, 'refresh'],
    ['but not any number', { ttl: '1h', refreshes: 18 }, 'lapse'],
    ['nothing is known without prices', { prices: { ...prices, read: null } }, 'lapse'],
    ['what costs nothing needs no refresh', { prices: { write5m: 0, write1h: 0, read: 0 } }, 'lapse'],
  ])('%s', (_title, given, choice) => {
    expect(decideKeepWarm({ ...facts, ...given }).choice).toBe(choice);
  });

  test('it says what it weighed', () => {
    expect(decideKeepWarm(facts).why).toBe(
      'after 270 s and 0 refreshes: $0.020000 so far against $0.230000 to write again',
    );
  });
});

describe('FORK-7: marks are written for an hour where waits are long and the price says so', () => {
  const facts: LifetimeFacts = {
    tokens: 100_000,
    newTokens: 5_000,
    prices,
    longWaitsMs: [600_000],
    refreshEveryMs: 270_000,
  };

  test.each<[string, Partial<LifetimeFacts>, string]>([
    ['a little more on a long prefix', {}, '1h'],
    ['five minutes while no wait was long', { longWaitsMs: [] }, '5m'],
    ['five minutes where most of it is new', { newTokens: 90_000 }, '5m'],
    [
      'an hour for waits that no refresh would pay for',
      { longWaitsMs: [3_000_000], newTokens: 90_000 },
      '1h',
    ],
    ['five minutes where an hour has no price', { prices: { ...prices, write1h: null } }, '5m'],
  ])('%s', (_title, given, ttl) => {
    expect(decideLifetime({ ...facts, ...given }).ttl).toBe(ttl);
  });
});
