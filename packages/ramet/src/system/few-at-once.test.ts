import { describe, expect, test } from 'vitest';
import { fewAtOnce } from './few-at-once.ts';

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
