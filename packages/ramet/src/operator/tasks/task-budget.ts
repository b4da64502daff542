/** What a task file says about the limits of a task. */
import type { BudgetLimits } from '../../schema/status.ts';

const SECONDS = { s: 1, m: 60, h: 3_600 } as const;
const TOKENS = /^(\d{1,12})\s*(k?)\s*tokens?$/i;
const TIME = /^(\d{1,6})\s*(s|m|h)(?:ec|ecs|econds?|in|ins|inutes?|ours?|rs?)?$/i;
const DOLLARS = /^\$?\s*(\d{1,9}(?:\.\d{1,6})?)\s*(?:\$|usd|dollars?)?$/i;

/** `$0.50`, `0.5`, `0.5 USD`, `20000 tokens`, `90 seconds`, `10 minutes`; several with commas between them. Null for anything else. */
export function readBudgetText(text: string): BudgetLimits | null {
  const limits: BudgetLimits = {};
  for (const part of text.split(/,|\band\b/)) {
    const one = oneLimit(part.trim());
    if (one === null || Object.keys(one).some((key) => key in limits)) return null;
    Object.assign(limits, one);
  }
  return limits;
}

function oneLimit(text: string): BudgetLimits | null {
  const [, tokens, thousands = ''] = TOKENS.exec(text) ?? [];
  if (tokens !== undefined) return above({ tokens: Number(tokens) * (thousands === '' ? 1 : 1_000) });
  const [, count, unit] = TIME.exec(text) ?? [];
  if (count !== undefined && unit !== undefined)
    return above({ seconds: Number(count) * SECONDS[unit.toLowerCase() as keyof typeof SECONDS] }); // the pattern has these three
  const dollars = DOLLARS.exec(text)?.[1];
  return dollars === undefined ? null : above({ usd: Number(dollars) });
}

function above(limit: BudgetLimits): BudgetLimits | null {
  return Object.values(limit).every((amount) => amount > 0) ? limit : null;
}

/** A whole number above 0; null for anything else. */
export function readTurnsText(text: string): number | null {
  const turns = /^\d{1,6}$/.test(text.trim()) ? Number(text) : 0;
  return turns > 0 ? turns : null;
}
