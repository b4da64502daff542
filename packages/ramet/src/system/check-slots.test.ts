import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
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
