import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { appended, itemsFrom, itemsOf, listOf } from './persistent.ts';

describe('a persistent list', () => {
  test('holds its items in order, from any position on', () => {
    fc.assert(
      fc.property(fc.nat(3_000), fc.nat(3_100), (length, start) => {
        const items = Array.from({ length }, (_, index) => index);
        const list = listOf(items);
        expect(list.length).toBe(length);
        expect(itemsOf(list)).toEqual(items);
        expect(itemsFrom(list, start)).toEqual(items.slice(start));
      }),
      { numRuns: 60 },
    );
  });

  test('two values that extend one share it, and neither changes the other', () => {
    const list = listOf(Array.from({ length: 2_000 }, (_, index) => index));
    const [one, two] = [appended(list, -1), appended(list, -2)];
    expect(one.blocks).toBe(list.blocks);
    expect(one.tail.length).toBeLessThanOrEqual(32);
    expect([itemsFrom(one, 2_000), itemsFrom(two, 2_000), list.length]).toEqual([[-1], [-2], 2_000]);
  });
});
