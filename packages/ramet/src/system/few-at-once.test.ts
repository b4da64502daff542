import { describe, expect, test } from 'vitest';
import { AtMost, fewAtOnce } from './few-at-once.ts';

describe('work a few at a time', () => {
  test('keeps the order, and never has more than four under way', async () => {
    let underWay = 0;
    let most = 0;
    const results = await fewAtOnce([5, 1, 4, 2, 3, 0], async (turns) => {
      most = Math.max(most, ++underWay);
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      underWay--;
      return turns * 10;
    });
    expect(results).toEqual([50, 10, 40, 20, 30, 0]);
    expect(most).toBe(4);
  });

  test('rejects with a failure after what was begun has ended', async () => {
    const done: number[] = [];
    const work = async (item: number): Promise<void> => {
      await Promise.resolve();
      if (item === 1) throw new Error('one');
      done.push(item);
    };
    await expect(fewAtOnce([1, 2, 3], work)).rejects.toThrow('one');
    expect(done).toEqual([2, 3]);
  });
});

describe('work of which a few at a time are under way', () => {
  test('begins in order, and a failure passes its place on', async () => {
    const places = new AtMost(2);
    const [begun, ends]: [number[], (() => void)[]] = [[], []];
    let most = 0;
    let working = 0;
    const runs = [0, 1, 2, 3].map((number) =>
      places.run(async () => {
        begun.push(number);
        working += 1;
        most = Math.max(most, working);
        await new Promise<void>((end) => ends.push(end));
        working -= 1;
        if (number === 0) throw new Error('broken');
        return number;
      }),
    );
    const over = Promise.allSettled(runs);
    expect(begun).toEqual([0, 1]);
    ends[0]?.();
    await expect(runs[0]).rejects.toThrow('broken');
    await expect.poll(() => begun).toEqual([0, 1, 2]);
    ends[1]?.();
    await expect.poll(() => begun).toEqual([0, 1, 2, 3]);
    for (const end of ends) end();
    expect((await over).map(({ status }) => status)).toEqual([
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ]);
    expect(most).toBe(2);
  });
});
