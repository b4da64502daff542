import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { entriesOf, hashOf, hasKey, mapOf, type PersistentMap, valueAt, withKey } from './persistent.ts';

const changes = fc.array(fc.tuple(fc.integer({ min: 0, max: 400 }).map(String), fc.option(fc.nat())), {
  maxLength: 900,
});

describe('a persistent map', () => {
  test('holds what a map would hold, in the order in which keys were last set', () => {
    fc.assert(
      fc.property(changes, fc.nat(500), (all, initial) => {
        const begun = Array.from({ length: initial }, (_, index) => [String(index), index] as const);
        const model = new Map(begun);
        let map = mapOf(begun);
        for (const [key, value] of all) {
          model.delete(key);
          if (value !== null) model.set(key, value);
          map = withKey(map, key, value);
          expect(valueAt(map, key)).toBe(value ?? undefined);
          expect(hasKey(map, key)).toBe(value !== null);
        }
        expect([...entriesOf(map)]).toEqual([...model]);
      }),
      { numRuns: 60 },
    );
  });

  test('an older value stays as it was', () => {
    const values = [mapOf<number>()];
    for (let index = 0; index < 300; index++) values.push(withKey(last(values), String(index % 70), index));
    for (const [index, value] of values.entries()) expect(entriesOf(value).size).toBe(Math.min(index, 70));
  });

  test('keys of the same hash are told apart', () => {
    const [one, other] = collision();
    const both = withKey(withKey(mapOf(), one, 1), other, 2);
    expect([...entriesOf(both)]).toEqual([
      [one, 1],
      [other, 2],
    ]);
    expect([valueAt(both, one), valueAt(both, other)]).toEqual([1, 2]);
    const rest = withKey(both, one, null);
    expect([...entriesOf(rest)]).toEqual([[other, 2]]);
    expect([...entriesOf(withKey(rest, other, null))]).toEqual([]);
  });

  test('setting one of many keys copies the way to it and shares the rest', () => {
    const map = mapOf(Array.from({ length: 5_000 }, (_, index) => [String(index), index] as const));
    const next = withKey(map, 'new', 1);
    expect(next.root.filter((slot, index) => slot !== map.root[index])).toHaveLength(1);
    expect(nodesIn(next.root).filter((node) => !nodesIn(map.root).includes(node)).length).toBeLessThan(8);
  });
});

function last(values: readonly PersistentMap<number>[]): PersistentMap<number> {
  return values.at(-1) ?? mapOf();
}

function collision(): [string, string] {
  const seen = new Map<number, string>();
  for (let index = 0; ; index++) {
    const key = `key ${index}`;
    const found = seen.get(hashOf(key));
    if (found !== undefined) return [found, key];
    seen.set(hashOf(key), key);
  }
}

function nodesIn(slot: unknown): unknown[] {
  return Array.isArray(slot) ? [slot, ...slot.flatMap(nodesIn)] : [];
}
