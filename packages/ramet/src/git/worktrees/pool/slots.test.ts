import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/fixtures/temporary.ts';
import { freeLostSlots, freeSlot, passSlot, portBase, takeSlot } from './slots.ts';

describe('WORK-2: slots', () => {
  test('are the lowest free numbers, and the wanted one where it is free', () => {
    const home = temporaryDirectory();
    expect([
      takeSlot(home, 'a'),
      takeSlot(home, 'b'),
      takeSlot(home, 'c', 7),
      takeSlot(home, 'd', 2),
    ]).toEqual([1, 2, 7, 3]);
    freeSlot(home, 1, 'a');
    expect(takeSlot(home, 'e')).toBe(1);
  });

  test('are freed by their holder alone', () => {
    const home = temporaryDirectory();
    takeSlot(home, 'a');
    freeSlot(home, 1, 'b');
    passSlot(home, 1, 'b');
    freeSlot(home, 1, 'a');
    expect(takeSlot(home, 'c')).toBe(2);
    freeSlot(home, 1, 'b');
    expect(takeSlot(home, 'd')).toBe(1);
  });

  test('of holders that are gone are freed, those of other repositories are not', () => {
    const home = temporaryDirectory();
    for (const holder of ['here\nalive', 'here\ngone', 'elsewhere\ngone']) takeSlot(home, holder);
    freeLostSlots(home, 'here', (id) => id === 'alive');
    expect(readdirSync(join(home, 'slots')).sort()).toEqual(['1', '3']);
  });

  test('are numbers: other files in the folder are left alone, as closing one would end a lock on it', () => {
    const home = temporaryDirectory();
    takeSlot(home, 'here\nalive');
    for (const name of ['check-1.lock', '1.lock', '01']) {
      writeFileSync(join(home, 'slots', name), 'here\ngone');
    }
    freeLostSlots(home, 'here', (id) => id === 'alive');
    expect(readdirSync(join(home, 'slots')).sort()).toEqual(['01', '1', '1.lock', 'check-1.lock']);
  });

  test('have ports of their own, as long as there are any', () => {
    expect([portBase(1), portBase(2), portBase(1_099), portBase(1_100)]).toEqual([
      10_020,
      10_040,
      31_980,
      null,
    ]);
  });
});
