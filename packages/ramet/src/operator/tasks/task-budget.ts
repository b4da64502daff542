/** What a task file says about the budget of a task. */
import type { BudgetLimits } from '../../schema/status.ts';

/** `$0.50`, `0.5`, `0.5 USD`, `20000 tokens`; null for anything else. */
export function readBudgetText(text: string): BudgetLimits | null {
  const tokens = /^(\d{1,12})\s*(k?)\s*tokens?$/i.exec(text.trim());
  if (tokens !== null) {
    const count = Number(tokens[1]) * (tokens[2] === '' ? 1 : 1_000);
    return count > 0 ? { tokens: count } : null;
  }
  const dollars = /^\$?\s*(\d{1,9}(?:\.\d{1,6})?)\s*(?:\$|usd|dollars?)?$/i.exec(text.trim())?.[1];
  return dollars === undefined || Number(dollars) <= 0 ? null : { usd: Number(dollars) };
}
