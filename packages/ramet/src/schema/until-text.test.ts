import { describe, expect, test } from 'vitest';
import { spanText, untilText } from './until-text.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('LAUNCH-2: when a limit ends, for people', () => {
  test('is a time of day and how long that is, with the day when it is another one', () => {
    const now = new Date(2026, 10, 15, 14, 37).getTime();
    expect(untilText(now + 123 * MINUTE, now)).toBe('16:40 (in 2 h 3 min)');
    expect(untilText(now + 60 * HOUR, now)).toBe('Nov 18 02:37 (in 2 d 12 h)');
  });

  test.each([
    [-5, '0 s'],
    [1, '1 s'],
    [59_001, '1 min'],
    [MINUTE, '1 min'],
    [HOUR, '1 h'],
    [HOUR + 1, '1 h 1 min'],
    [24 * HOUR, '1 d'],
  ])('%d ms are %s: never over before', (ms, text) => {
    expect(spanText(ms)).toBe(text);
  });
});
