import { describe, expect, test } from 'vitest';
import { DrainableRun } from './event-bus.ts';

async function* counting(log: string[], upTo = 4): AsyncGenerator<number, string> {
  try {
    for (let count = 1; count <= upTo; count += 1) yield count;
    return 'end';
  } finally {
    log.push('released');
  }
}

/** All that is left of it. */
async function rest(events: AsyncGenerator<number, string>): Promise<unknown[]> {
  const taken: unknown[] = [];
  for (;;) {
    const { value, done } = await events.next();
    taken.push(value);
    if (done) return taken;
  }
}

describe('LIB-1: a run that is drained by another caller', () => {
  test('ends while its taker holds an event, who finds the rest in order', async () => {
    const log: string[] = [];
    const run = new DrainableRun(counting(log));
    const events = run.events();
    expect(await events.next()).toEqual({ done: false, value: 1 });
    await Promise.all([run.drain(), run.drain()]);
    expect(log).toEqual(['released']);
    expect(await rest(events)).toEqual([2, 3, 4, 'end']);
  });

  test('gives every event once when it is drained while its taker waits for one', async () => {
    const run = new DrainableRun(counting([]));
    const events = run.events();
    const taking = rest(events);
    await run.drain();
    expect(await taking).toEqual([1, 2, 3, 4, 'end']);
  });

  test('is left when its taker leaves it', async () => {
    const log: string[] = [];
    for await (const event of new DrainableRun(counting(log)).events()) if (event === 2) break;
    expect(log).toEqual(['released']);
  });

  test('throws at its taker what it throws, also when it was drained', async () => {
    async function* failing(): AsyncGenerator<number, string> {
      yield 1;
      throw new Error('broken');
    }
    const run = new DrainableRun(failing());
    const events = run.events();
    await events.next();
    await expect(run.drain()).rejects.toThrow('broken');
    await expect(events.next()).rejects.toThrow('broken');
  });
});
