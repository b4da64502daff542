import { expect, test } from 'vitest';
import { reviewLines } from './trust.ts';

test('a program that many commands start is listed once, unless all is asked for', () => {
  const part = {
    kind: 'hooks' as const,
    state: 'trusted' as const,
    difference: [],
    followsMore: false,
    files: [],
  };
  const parts = [
    { ...part, source: 'a', unfollowed: ['pytest -q (what pytest loads)', 'pytest x (what pytest loads)'] },
    { ...part, source: 'b', unfollowed: ['sh $X (because of what sh runs)', 'pytest (what pytest loads)'] },
    { ...part, source: 'c', unfollowed: ['make x (what make, pytest loads)'] },
  ];
  expect(reviewLines(parts)).toEqual([
    'trusted  hooks: a',
    '  not followed: pytest -q (what pytest loads)',
    'trusted  hooks: b',
    '  not followed: sh $X (because of what sh runs)',
    'trusted  hooks: c',
    '  not followed: make x (what make, pytest loads)',
    '  not followed either: the same in 2 more places (ramet trust --show --full lists them)',
  ]);
  expect(reviewLines(parts, { isFull: true })).toEqual([
    'trusted  hooks: a',
    '  not followed: pytest -q (what pytest loads)',
    '  not followed: pytest x (what pytest loads)',
    'trusted  hooks: b',
    '  not followed: sh $X (because of what sh runs)',
    '  not followed: pytest (what pytest loads)',
    'trusted  hooks: c',
    '  not followed: make x (what make, pytest loads)',
  ]);
});
