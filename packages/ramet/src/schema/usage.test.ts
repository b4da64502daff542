import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addCost, grouped } from './usage.ts';

test.each([0, 7, 999, 1_000, 12_345, 999_999, 1_000_000, 1_234_567_890, -1_234])(
  '%d is written as people read it in English',
  (count) => {
    expect(grouped(count)).toBe(count.toLocaleString('en-US'));
  },
);

test('a sum of costs is the exact decimal sum, without binary noise', () => {
  const cost = fc.integer({ min: -(10 ** 12), max: 10 ** 12 });
  fc.assert(
    fc.property(cost, cost, (a, b) => {
      expect(addCost(a / 1e9, b / 1e9)).toBe(Number(`${a + b}e-9`));
    }),
  );
  expect(addCost(0.1, 0.2)).toBe(0.3);
});

test('a sum of costs too large for twelve digits is still one', () => {
  expect(addCost(123_456_789, 0.25)).toBe(123_456_789.25);
});
