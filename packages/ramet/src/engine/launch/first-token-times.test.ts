import { describe, expect, test } from 'vitest';
import { FirstTokenTimes } from './launch.ts';

describe('LAUNCH-1: how long a silent lead is believed', () => {
  test('five seconds while nothing has been measured', () => {
    const times = new FirstTokenTimes();
    expect(times.expected('m')).toBeNull();
    expect(times.patience('m')).toBe(5_000);
  });

  test.each([
    [10, 1_000],
    [800, 1_600],
    [4_000, 5_000],
  ])('after answers that began within %i ms, %i ms', (measured, patience) => {
    const times = new FirstTokenTimes();
    times.note('m', measured);
    times.note('m', 5);
    expect(times.expected('m')).toBe(measured);
    expect(times.patience('m')).toBe(patience);
    expect(times.patience('another')).toBe(5_000);
  });

  test('old measurements are forgotten', () => {
    const times = new FirstTokenTimes();
    times.note('m', 2_000);
    for (let i = 0; i < 8; i++) times.note('m', 700);
    expect(times.patience('m')).toBe(1_400);
  });
});
