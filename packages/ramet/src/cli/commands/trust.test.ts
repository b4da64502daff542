import { expect, test } from 'vitest';
import { reviewLines } from './trust.ts';

test('a program that many commands start is listed once', () => {
  const part = { kind: 'hooks' as const, state: 'trusted' as const, difference: [], files: [] };
  const lines = reviewLines([
    { ...part, source: 'a', unfollowed: ['pytest -q (what pytest loads)', 'pytest x (what pytest loads)'] },
    { ...part, source: 'b', unfollowed: ['sh $X (because of what sh runs)', 'pytest (what pytest loads)'] },
    { ...part, source: 'c', unfollowed: ['make x (what make, pytest loads)'] },
  ]);
  expect(lines).toEqual([
    'trusted  hooks: a',
    '  not followed: pytest -q (what pytest loads)',
    'trusted  hooks: b',
    '  not followed: sh $X (because of what sh runs)',
    'trusted  hooks: c',
    '  not followed: make x (what make, pytest loads)',
    '  not followed either: the same in 2 more places',
  ]);
});
