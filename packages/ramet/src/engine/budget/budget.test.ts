import { describe, expect, test } from 'vitest';
import { NO_USAGE } from '../../schema/usage.ts';
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

describe('RES-2: budgets form a tree', () => {
  const used = (tokens: number) => ({ ...NO_USAGE, input_tokens: tokens });

  test('what a child spends counts against every ancestor, and is not their own usage', () => {
    const session = new Spending({}, 0, { label: 'session' });
    const parent = new Spending({}, 0, { label: 'main agent', parent: session });
    const child = new Spending({}, 0, { parent });
    parent.add(used(1), 0.5);
    child.add(used(10), 0.25);
    expect([child, parent, session].map(({ totalUsage }) => totalUsage.input_tokens)).toEqual([10, 11, 11]);
    expect([child, parent, session].map(({ totalCostUsd }) => totalCostUsd)).toEqual([0.25, 0.75, 0.75]);
    expect([child, parent, session].map(({ costUsd }) => costUsd)).toEqual([0.25, 0.5, 0]);
    expect(parent.usage).toEqual(used(1));
  });

  test('a child without limits stops at its grandparent’s, and is told whose it is', () => {
    const session = new Spending({ tokens: 100 }, 0, { label: 'session' });
    const parent = new Spending({ usd: 9 }, 0, { label: 'main agent', parent: session });
    const [child, sibling] = [new Spending({}, 0, { parent }), new Spending({ tokens: 90 }, 0, { parent })];
    sibling.add(used(80), 0.1);
    expect(child.state(0)).toEqual({
      level: 'near',
      limit: 'tokens',
      what: "the session's budget: 80 of 100 tokens",
    });
    expect(sibling.state(0)).toEqual({ level: 'near', limit: 'tokens', what: '80 of 90 tokens' });
    child.add(used(20), 9);
    expect(child.state(0)).toMatchObject({
      level: 'over',
      what: "the main agent's budget: $9.1000 of $9",
    });
  });

  test('a child’s own limit holds it alone', () => {
    const parent = new Spending({ tokens: 1_000 }, 0);
    const child = new Spending({ tokens: 10 }, 0, { parent });
    child.add(used(10), 0);
    expect(child.state(0)).toEqual({ level: 'over', limit: 'tokens', what: '10 of 10 tokens' });
    expect(parent.state(0).level).toBe('within');
  });

  test('time runs from the start of the one whose limit it is', () => {
    const session = new Spending({ seconds: 100 }, 0, { label: 'session' });
    const child = new Spending({ seconds: 100 }, 90_000, { parent: session });
    expect(child.state(95_000)).toEqual({
      level: 'near',
      limit: 'seconds',
      what: "the session's budget: 95 of 100 seconds",
    });
  });

  test('a child’s unknown cost reaches a dollar limit above it', () => {
    const session = new Spending({ usd: 100 }, 0, { label: 'session' });
    const child = new Spending({}, 0, { parent: session });
    child.add(NO_USAGE, null);
    expect(new Spending({}, 0, { parent: session }).state(0)).toEqual({
      level: 'over',
      limit: 'usd',
      what: "the session's budget: $(unknown) of $100",
    });
  });
});
