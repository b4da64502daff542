/** A budget as a program, a model or a file has it. */
import type { BudgetLimits } from './status.ts';

const FIELDS: readonly (keyof BudgetLimits)[] = ['tokens', 'usd', 'seconds'];

/** A hundred years. What is longer is a mistake, and no clock could tell its end. */
export const MOST_SECONDS = 3_155_760_000;

/** The budget, or in a few words why it is none. */
export function readBudget(value: unknown): BudgetLimits | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return `it is not an object with ${FIELDS.join(', ')}`;
  const budget: BudgetLimits = {};
  for (const [key, amount] of Object.entries(value)) {
    const field = FIELDS.find((one) => one === key);
    if (field === undefined)
      return `it has no ${JSON.stringify(key.slice(0, 40))}: there are ${FIELDS.join(', ')}`;
    if (amount === undefined) continue;
    if (typeof amount !== 'number' || !Number.isFinite(amount) || amount <= 0)
      return `its ${field} must be a number above 0`;
    if (field === 'seconds' && amount > MOST_SECONDS)
      return `its seconds must be at most ${MOST_SECONDS}; without them there is no limit`;
    budget[field] = amount;
  }
  return budget;
}

/** What both allow. */
export function strictest(one: BudgetLimits, other: BudgetLimits): BudgetLimits {
  const joined: BudgetLimits = {};
  for (const field of FIELDS) {
    const least = Math.min(one[field] ?? Number.POSITIVE_INFINITY, other[field] ?? Number.POSITIVE_INFINITY);
    if (Number.isFinite(least)) joined[field] = least;
  }
  return joined;
}
