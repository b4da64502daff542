import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mergePlace } from '../../../test/fixtures/merge-repository.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { takeSlot } from '../../system/check-slots.ts';

const newSlots = (count: number) => ({ directory: join(temporaryDirectory(), 'slots'), count });

describe('WORK-5: a check', () => {
  test('waits for its place, and tells what it starts that it has one', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { one: '1' });
    const slots = newSlots(1);
    const log = join(place.project, 'ran');
    const slot = await takeSlot(slots);
    const seen: string[] = [];
    const report = await place.queue(
      {
        branches: ['one'],
        check: { command: `printf %s "$RAMET_CHECK_SLOT" > ${log}`, timeoutMs: 60_000 },
      },
      {
        slots,
        onCheckWaits: (running) => {
          seen.push(`${running} at work, begun: ${existsSync(log)}`);
          slot[Symbol.dispose]();
        },
        onCheck: () => seen.push('begins'),
      },
    );
    expect(place.states(report)).toEqual(['one: landed']);
    expect(seen).toEqual(['1 at work, begun: false', 'begins']);
    expect(readFileSync(log, 'utf8')).toBe('check-1');
    using _free = await takeSlot(slots);
  });

  test('frees its place when it fails', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { one: '1' });
    const slots = newSlots(1);
    const check = { command: 'false', timeoutMs: 60_000 };
    await place.queue({ branches: ['one'], check }, { slots });
    using _free = await takeSlot(slots);
  });
});
