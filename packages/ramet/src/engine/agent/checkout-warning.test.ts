import { expect, test } from 'vitest';
import { checkoutWarning } from './notices.ts';

const WHO = 'Ramet does not know who changed it: ';
const some = (count: number): string[] => Array.from({ length: count }, (_, number) => `c${number}`);

test('WORK-9: a few changes are all named', () => {
  expect(checkoutWarning(['a'])).toBe(`${WHO}a`);
  expect(checkoutWarning(some(6))).toBe(`${WHO}c0; c1; c2; c3; c4; c5`);
});

test('WORK-9: of many changes the first are named and the rest counted, with the command that lists them', () => {
  expect(checkoutWarning(some(7))).toBe(`${WHO}c0; c1; c2; c3; c4; c5; and 1 more (ramet ps lists all)`);
  expect(checkoutWarning(some(1000))).toMatch(/; c5; and 994 more \(ramet ps lists all\)$/);
});

test('WORK-9: a long change is cut, which is said, and hides no other', () => {
  const text = checkoutWarning(['x'.repeat(10_000), 'config']);
  expect(text).toMatch(/x\.\.\.; config \(ramet ps lists all\)$/);
  expect(text.length).toBeLessThan(400);
});
