import { describe, expect, test } from 'vitest';
import { readField } from './markdown/task-fields.ts';
import { readBudgetText, readTurnsText } from './task-budget.ts';

describe('RES-10: the limits of a task in its file', () => {
  test.each([
    ['$0.50', { usd: 0.5 }],
    ['0.5', { usd: 0.5 }],
    ['2 USD', { usd: 2 }],
    ['20000 tokens', { tokens: 20_000 }],
    ['20k tokens', { tokens: 20_000 }],
    ['90 seconds', { seconds: 90 }],
    ['10 min', { seconds: 600 }],
    ['1h', { seconds: 3_600 }],
    ['$1, 50k tokens and 10 minutes', { usd: 1, tokens: 50_000, seconds: 600 }],
    ['0', null],
    ['-1', null],
    ['0 seconds', null],
    ['$1, $2', null],
    ['10 days', null],
    ['', null],
  ])('%j is %j', (text, limits) => {
    expect(readBudgetText(text)).toEqual(limits);
  });

  test.each([
    ['5', 5],
    ['0', null],
    ['1.5', null],
    ['many', null],
  ])('max_turns %j is %j', (text, turns) => {
    expect(readTurnsText(text)).toBe(turns);
    expect(readField(`- Max turns: ${text}`.slice(2))).toMatchObject({ name: 'max_turns', value: text });
  });
});
