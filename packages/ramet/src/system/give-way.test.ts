import { describe, expect, it } from 'vitest';
import { firstOf, giveWay } from './give-way.ts';

describe('work that gives way', () => {
  it('waits while anybody starts, also one who begins at the same moment', async () => {
    await giveWay();
    let isStarting = false;
    let isOver = false;
    {
      using _ = firstOf(() => isStarting);
      const work = giveWay().then(() => {
        isOver = true;
      });
      await Promise.resolve();
      isStarting = true;
      for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
      expect(isOver).toBe(false);
      isStarting = false;
      await work;
      isStarting = true;
    }
    await giveWay();
  });
});
