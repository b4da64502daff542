import { describe, expect, test } from 'vitest';
import { NO_USAGE } from '../schema/usage.ts';
import { Spending } from './budget.ts';

describe('RES-2: a budget in dollars, tokens and seconds', () => {
  test('without limits nothing is ever too much', () => {
    const spending = new Spending({}, 0);
    spending.add({ ...NO_USAGE, input_tokens: 1e9 }, 1e6);
    expect(spending.state(1e9).level).toBe('within');
  });

  test.each([
    [{ usd: 1 }, { cost: 0.79, now: 0 }, 'within'],
    [{ usd: 1 }, { cost: 0.8, now: 0 }, 'near'],
    [{ usd: 1 }, { cost: 1, now: 0 }, 'over'],
    [{ tokens: 100 }, { cost: 0, now: 0 }, 'over'],
    [{ seconds: 10 }, { cost: 0, now: 9_000 }, 'near'],
    [{ usd: 10, seconds: 10 }, { cost: 1, now: 10_000 }, 'over'],
  ] as const)('%j after %j is %s', (limits, { cost, now }, level) => {
    const spending = new Spending(limits, 0);
    spending.add({ ...NO_USAGE, input_tokens: 60, output_tokens: 40 }, cost);
    expect(spending.state(now).level).toBe(level);
  });

  test('an unknown cost makes the sum unknown, and a dollar limit reached', () => {
    const spending = new Spending({ usd: 5 }, 0);
    spending.add(NO_USAGE, 0.1);
    spending.add(NO_USAGE, null);
    expect(spending.costUsd).toBeNull();
    expect(spending.state(0).level).toBe('over');
  });
});
