import { describe, expect, test } from 'vitest';
import { MOST_SECONDS, readBudget } from './usage.ts';

describe('RES-2: a budget as it was written', () => {
  test.for([1e99, Number.NaN, Number.POSITIVE_INFINITY, 0, -1, MOST_SECONDS + 1, '5'])(
    'seconds: %s is none',
    (seconds) => {
      expect(readBudget({ seconds })).toMatch(/^its seconds must be /);
    },
  );

  test.for([0.5, 2_147_484, 3_000_000, MOST_SECONDS])('seconds: %s is one', (seconds) => {
    expect(readBudget({ seconds })).toEqual({ seconds });
  });
});
