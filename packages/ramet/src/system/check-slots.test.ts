import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../test/fixtures/command.ts';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { type CheckSlots, takeSlot } from './check-slots.ts';

const newSlots = (count: number) => ({ directory: join(temporaryDirectory(), 'slots'), count });

/** Whether someone has that lock. */
function isHeld({ directory }: CheckSlots, name: string): boolean {
  const db = new DatabaseSync(join(directory, `${name}.lock`), { timeout: 0 });
  try {
    db.exec('BEGIN EXCLUSIVE');
    return false;
  } catch {
    return true;
  } finally {
    db.close();
  }
}

/** A process that takes a place and holds it until it is killed. */
async function startHolder(slots: CheckSlots): Promise<ChildProcess> {
  const child = startTaker(slots);
  await eventually(() => child.said().includes('held'));
  return child.process;
}

interface Taker {
  process: ChildProcess;
  said(): string;
}

/** A process that says `waits` and `held`, and holds its place until it is killed. */
function startTaker(slots: CheckSlots): Taker {
  const program = `import(${JSON.stringify(join(import.meta.dirname, 'check-slots.ts'))}).then(async ({ takeSlot }) => {
    globalThis.held = await takeSlot(${JSON.stringify(slots)}, { onWait: () => console.log('waits') });
    console.log('held');
    setInterval(() => {}, 1000);
  })`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    text += more;
  });
  return { process: child, said: () => text };
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

  test('go to those who wait in the order in which they came; a waiter that is killed is no obstacle', async () => {
    const slots = newSlots(1);
    const holder = await startHolder(slots);
    const killed = startTaker(slots);
    await eventually(() => killed.said().includes('waits'));
    const order: number[] = [];
    const ends: Promise<void>[] = [];
    for (const number of [1, 2, 3, 4]) {
      const waits = Promise.withResolvers<void>();
      const taken = takeSlot(slots, { onWait: () => waits.resolve() });
      ends.push(
        taken.then((slot) => {
          order.push(number);
          slot[Symbol.dispose]();
        }),
      );
      await waits.promise;
      // The next one comes when this one has moved up to its turn.
      await eventually(() => isHeld(slots, `turn-${number + 1}`));
    }
    killed.process.kill('SIGKILL');
    holder.kill('SIGKILL');
    await Promise.all(ends);
    expect(order).toEqual([1, 2, 3, 4]);
  });

  test('within one, what was started there takes turns and waits for no other place', async () => {
    const slots = newSlots(1);
    using outer = await takeSlot(slots);
    expect(outer.environment).toEqual({ RAMET_CHECK_SLOT: 'check-1' });
    const within = { ...slots, within: outer.name };
    const inner = await takeSlot(within);
    expect(inner.name).toBe('check-1/check-1');
    using deepest = await takeSlot({ ...slots, within: inner.name });
    expect(deepest.name).toBe('check-1/check-1/check-1');
    const waits = Promise.withResolvers<void>();
    const next = takeSlot(within, { onWait: () => waits.resolve() });
    await waits.promise;
    inner[Symbol.dispose]();
    using _next = await next;
  });

  test('a variable that names a place which nobody holds, or no place, gives nothing', async () => {
    const slots = newSlots(1);
    for (const within of ['check-1', 'check-7', '1', '../check-1', 'check-1/../..', '']) {
      using slot = await takeSlot({ ...slots, within });
      expect(slot.name).toBe('check-1');
    }
    expect(readdirSync(join(slots.directory, '..'))).toEqual(['slots']);
  });

  test('are empty files that only their user can read', async () => {
    const slots = newSlots(1);
    using _slot = await takeSlot(slots);
    const names = readdirSync(slots.directory).toSorted();
    expect(names).toEqual([
      'check-1.lock',
      ...[2, 3, 4, 5, 6, 7, 8].map((n) => `turn-${n}.lock`),
      'turn.lock',
    ]);
    for (const name of names)
      expect(statSync(join(slots.directory, name))).toMatchObject({ size: 0, mode: 0o100600 });
  });
});
