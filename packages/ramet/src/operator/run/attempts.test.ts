import { describe, expect, test } from 'vitest';
import { OperatorWorld, runTask } from '../../../test/fixtures/operator-world.ts';

describe('what starts next', () => {
  test('is told when all that could start have begun, never more than may work at once', async () => {
    const told: [number, number, string][] = [];
    const tasks = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => runTask(id));
    const world: OperatorWorld = new OperatorWorld({
      ...{ tasks, width: 2 },
      expect: (count, base) => void told.push([world.started.length, count, base]),
    });
    await world.run();
    expect(told[0]).toEqual([2, 2, 'base']);
    expect(Math.max(...told.map(([, count]) => count))).toBe(2);
    // Tasks that have started are not counted, and later ones begin with what is merged.
    for (const [started, count] of told) expect(started + count).toBeLessThanOrEqual(tasks.length);
    expect(told.some(([, , base]) => base !== 'base')).toBe(true);
  });

  test('is not told while a task is being started, or when nothing more may start', async () => {
    const told: number[] = [];
    const stopping = new AbortController();
    const world = new OperatorWorld({
      ...{ tasks: [runTask('a'), runTask('b')], width: 1 },
      attempt: () => {
        stopping.abort('enough');
        return undefined;
      },
      expect: (count) => void told.push(count),
    });
    await world.run({}, stopping.signal);
    expect(world.started).toEqual(['a-1']);
    expect(told).toEqual([]);
  });
});
