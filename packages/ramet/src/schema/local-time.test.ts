import { expect, test } from 'vitest';
import { localDay, localMoment, localSecond, localTime } from './local-time.ts';

const at = (...parts: [number, number, number, number, number]): number => new Date(...parts).getTime();
const now = at(2026, 10, 16, 17, 5);

test.for<[time: number, shown: string]>([
  [at(2026, 10, 16, 0, 0), '00:00'],
  [at(2026, 10, 15, 23, 59), 'yesterday 23:59'],
  [at(2026, 10, 14, 9, 3), 'Nov 14 09:03'],
  [at(2026, 0, 1, 9, 3), 'Jan 1 09:03'],
  [at(2025, 10, 16, 17, 5), '2025-11-16 17:05'],
])('a time is shown in the zone of this machine: %s', ([time, shown]) => {
  expect(localTime(time, now)).toBe(shown);
});

test('yesterday is the day before, also on the first of a year', () => {
  expect(localTime(at(2025, 11, 31, 8, 0), at(2026, 0, 1, 8, 0))).toBe('yesterday 08:00');
});

test('a moment has its milliseconds', () => {
  expect(localMoment(now + 7)).toBe('2026-11-16 17:05:00.007');
  expect([localSecond(now + 7), localDay(now)]).toEqual(['2026-11-16 17:05:00', '2026-11-16']);
});
