import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { mergePlace } from '../../../test/fixtures/merge-repository.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { takeSlot } from './check-slots.ts';

const newSlots = (count: number) => ({ directory: join(temporaryDirectory(), 'slots'), count });

/** A process that takes a place and holds it until it is killed. */
async function startHolder(slots: { directory: string; count: number }): Promise<ChildProcess> {
  const program = `import(${JSON.stringify(join(import.meta.dirname, 'check-slots.ts'))}).then(async ({ takeSlot }) => {
    globalThis.held = await takeSlot(${JSON.stringify(slots)});
    console.log('held');
    setInterval(() => {}, 1000);
  })`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

describe('OP-3: places for heavy commands', () => {
  test('are as many as was said; the next one waits and is told how many run', async () => {
    const slots = newSlots(2);
    const [first, second] = [await takeSlot(slots), await takeSlot(slots)];
    const told: number[] = [];
    const waits = Promise.withResolvers<void>();
    let isIn = false;
    const third = takeSlot(slots, {
      onWait: (running) => {
        told.push(running);
        waits.resolve();
      },
    }).then((slot) => {
      isIn = true;
      return slot;
    });
    await waits.promise;
    expect(isIn).toBe(false);
    first[Symbol.dispose]();
    const slot = await third;
    expect(told).toEqual([2]);
    for (const held of [second, slot]) held[Symbol.dispose]();
  });

  test('never hold more at once than there are, and everybody has a turn', async () => {
    const slots = newSlots(2);
    let [now, most, done] = [0, 0, 0];
    const work = async (): Promise<void> => {
      using _slot = await takeSlot(slots);
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
      done += 1;
    };
    await Promise.all(Array.from({ length: 12 }, work));
    expect({ most: most <= 2, done }).toEqual({ most: true, done: 12 });
  });

  test('are shared by processes, and free when one is killed', async () => {
    const slots = newSlots(1);
    const holder = await startHolder(slots);
    const waits = Promise.withResolvers<void>();
    const mine = takeSlot(slots, { onWait: () => waits.resolve() });
    await waits.promise;
    holder.kill('SIGKILL');
    using _slot = await mine;
  });

  test('let go who is interrupted while waiting, and the next one has the turn', async () => {
    const slots = newSlots(1);
    const first = await takeSlot(slots);
    const stop = new AbortController();
    const waiting = takeSlot(slots, { signal: stop.signal, onWait: () => stop.abort() });
    await expect(waiting).rejects.toThrow(/abort/i);
    first[Symbol.dispose]();
    using _next = await takeSlot(slots);
  });

  test('are empty files that only their user can read', async () => {
    const slots = newSlots(1);
    using _slot = await takeSlot(slots);
    const names = readdirSync(slots.directory).toSorted();
    expect(names).toEqual(['check-1.lock', 'turn.lock']);
    for (const name of names)
      expect(statSync(join(slots.directory, name))).toMatchObject({ size: 0, mode: 0o100600 });
  });
});

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
    expect(readFileSync(log, 'utf8')).toBe('1');
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
