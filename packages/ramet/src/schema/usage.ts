/** What was used of models, in tokens and dollars, and what may be. */
import type { BudgetLimits } from './status.ts';

/** Token counts of one response or a sum of them, in the Messages API's words (facts: input excludes cached). */
export interface Usage {
  /** The counts of which a part is not known: they are at least what they say. Absent where all are known. */
  unknown?: readonly TokenCount[];
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  output_tokens: number;
  /** The 1 h share of `cache_creation_input_tokens`; the rest was written for 5 min. */
  cache_creation_1h_input_tokens: number;
  /** How often the provider searched the web, which it bills besides. Absent for never. */
  web_search_requests?: number;
  /** A part of `output_tokens` is estimated: an answer was cut off before the provider told its count. */
  estimated?: true;
}

export interface Bill {
  /** Null when it is unknown. */
  readonly costUsd: number | null;
  readonly usage: Usage;
}

const TOKEN_COUNTS = [
  'input_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'output_tokens',
  'cache_creation_1h_input_tokens',
] as const;
export type TokenCount = (typeof TOKEN_COUNTS)[number];

export const NO_USAGE: Usage = Object.freeze({
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
  cache_creation_1h_input_tokens: 0,
});

/** The sum of what is known: a part that is not makes its count, and no other, uncertain. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum: Usage = {
    input_tokens: a.input_tokens + b.input_tokens,
    cache_creation_input_tokens: a.cache_creation_input_tokens + b.cache_creation_input_tokens,
    cache_read_input_tokens: a.cache_read_input_tokens + b.cache_read_input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cache_creation_1h_input_tokens: a.cache_creation_1h_input_tokens + b.cache_creation_1h_input_tokens,
  };
  const searches = (a.web_search_requests ?? 0) + (b.web_search_requests ?? 0);
  if (searches > 0) sum.web_search_requests = searches;
  if (a.estimated === true || b.estimated === true) sum.estimated = true;
  if (a.unknown === undefined && b.unknown === undefined) return sum;
  const unknown = TOKEN_COUNTS.filter((count) => isUncertain(a, count) || isUncertain(b, count));
  return unknown.length > 0 ? { unknown, ...sum } : sum;
}

export function isUncertain({ unknown }: Usage, ...counts: readonly TokenCount[]): boolean {
  if (unknown === undefined) return false;
  return counts.length === 0 ? unknown.length > 0 : counts.some((count) => unknown.includes(count));
}

/** Whether a part of the prompt is not known; how long it was written for does not matter here. */
export function isPromptUncertain(usage: Usage): boolean {
  return isUncertain(usage, 'input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens');
}

/** `1,234,567`. Node's own `toLocaleString` takes milliseconds to load what it knows of languages. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Everything the provider read: what a context window and a token budget count. */
export function totalTokens(usage: Usage): number {
  return (
    usage.input_tokens +
    usage.cache_creation_input_tokens +
    usage.cache_read_input_tokens +
    usage.output_tokens
  );
}

/** The share of the prompt that came from the cache; null when nothing was asked, or it is not known. */
export function hitRate(usage: Usage): number | null {
  if (isPromptUncertain(usage)) return null;
  const prompt = usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
  return prompt === 0 ? null : usage.cache_read_input_tokens / prompt;
}

/**
 * A sum of costs of which one is unknown is unknown, never the sum of the rest. Sums of binary fractions end in
 * noise far below the smallest price of a token; it is cut off here, so that every view shows the same figure.
 */
export function addCost(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return null;
  const units = Math.round((a + b) * COST_UNITS);
  return Number.isSafeInteger(units) ? units / COST_UNITS : Number((a + b).toFixed(12));
}

/** Of one dollar. Arithmetic takes a quarter of the time that a text of 12 digits does, and every turn adds several. */
const COST_UNITS = 1e12;

const BUDGET_FIELDS: readonly (keyof BudgetLimits)[] = ['tokens', 'usd', 'seconds'];

/** A hundred years. What is longer is a mistake, and no clock could tell its end. */
export const MOST_SECONDS = 3_155_760_000;

/** A budget as a program, a model or a file has it, or in a few words why it is none. */
export function readBudget(value: unknown): BudgetLimits | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return `it is not an object with ${BUDGET_FIELDS.join(', ')}`;
  const budget: BudgetLimits = {};
  for (const [key, amount] of Object.entries(value)) {
    const field = BUDGET_FIELDS.find((one) => one === key);
    if (field === undefined)
      return `it has no ${JSON.stringify(key.slice(0, 40))}: there are ${BUDGET_FIELDS.join(', ')}`;
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
  for (const field of BUDGET_FIELDS) {
    const least = Math.min(one[field] ?? Number.POSITIVE_INFINITY, other[field] ?? Number.POSITIVE_INFINITY);
    if (Number.isFinite(least)) joined[field] = least;
  }
  return joined;
}
