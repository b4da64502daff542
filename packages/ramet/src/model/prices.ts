/**
 * Prices as data (MODEL-3). A row names its models, its source's date, and whether that source could be read in
 * full: `unconfirmed` rows come from excerpts or third parties. An unknown price is null and makes every cost that
 * needs it null; nothing here guesses from another model or from a usual multiplier.
 */

import { type ModelError, systemCode } from '../schema/errors.ts';
import { isUncertain, NO_USAGE, type Usage } from '../schema/usage.ts';
import { findModel, RECIPE_MODEL } from './catalog.ts';

/** Fewer than any text has in the long run: the bound is to hold. */
const LEAST_BYTES_PER_TOKEN = 2;

/** Nothing of a request has been sent when these happen. */
const NEVER_SENT: readonly unknown[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'EMFILE',
  'ENFILE',
];

const UNKNOWN: TokenPrices = { input: null, write5m: null, write1h: null, read: null, output: null };

/** US dollars per million tokens. Null is unknown. */
interface TokenPrices {
  input: number | null;
  write5m: number | null;
  write1h: number | null;
  read: number | null;
  output: number | null;
}

interface PriceRow {
  models: readonly string[];
  prices: TokenPrices;
  /** Prices of the whole request when its prompt is longer than `promptTokens`. */
  above?: { promptTokens: number; prices: TokenPrices };
  /** ISO date (or month) of the source. */
  date: string;
  unconfirmed: boolean;
}

/** The first row that names the model counts, so overrides are put in front. */
export type PriceTable = readonly PriceRow[];

export type CostParts = { [Part in keyof TokenPrices]: number } & { search?: number };

/** US dollars for one search of the web, on every model. No page of the provider with it could be read here. */
const SEARCH_USD = 0.01;

export interface Cost {
  /** Null when a price or a count that is needed is not known. */
  usd: number | null;
  /** The sum of the parts that are known. */
  atLeastUsd: number;
  unconfirmed: boolean;
  parts: CostParts | null;
}

function prices(
  input: number,
  write5m: number,
  write1h: number | null,
  read: number,
  output: number,
): TokenPrices {
  return { input, write5m, write1h, read, output };
}

const DOCUMENTED = { date: '2026-08-22', unconfirmed: false } as const;

export const PRICES: PriceTable = [
  { models: ['claude-fable-5', 'claude-mythos-5'], prices: prices(10, 12.5, 20, 1, 50), ...DOCUMENTED },
  {
    models: ['claude-fable-5-1', 'claude-mythos-5-1'],
    prices: prices(10, 12.5, 20, 0.25, 50),
    date: '2026-09-01',
    unconfirmed: true,
  },
  { models: ['claude-opus-5-5'], prices: prices(4, 5, 8, 0.2, 20), date: '2026-10', unconfirmed: true },
  {
    models: ['claude-opus-5', 'claude-opus-4-8', 'claude-opus-4-7', 'claude-opus-4-6', 'claude-opus-4-5'],
    prices: prices(5, 6.25, 10, 0.5, 25),
    ...DOCUMENTED,
  },
  { models: ['claude-opus-4-1', 'claude-opus-4'], prices: prices(15, 18.75, 30, 1.5, 75), ...DOCUMENTED },
  {
    models: ['claude-sonnet-5-5'],
    prices: prices(2, 2.5, 4, 0.1, 10),
    date: '2026-10-07',
    unconfirmed: true,
  },
  { models: ['claude-sonnet-5'], prices: prices(2, 2.5, 4, 0.2, 10), ...DOCUMENTED },
  {
    models: ['claude-sonnet-4-6', 'claude-sonnet-4-5', 'claude-sonnet-4'],
    prices: prices(3, 3.75, 6, 0.3, 15),
    ...DOCUMENTED,
  },
  {
    models: ['claude-haiku-5-5'],
    prices: prices(0.1, 0.125, 0.2, 0.01, 0.5),
    above: { promptTokens: 100_000, prices: prices(0.5, 0.625, null, 0.05, 2.5) },
    date: '2026-10',
    unconfirmed: true,
  },
  { models: ['claude-haiku-4-5'], prices: prices(1, 1.25, 2, 0.1, 5), ...DOCUMENTED },
  { models: ['claude-3-5-haiku'], prices: prices(0.8, 1, 1.6, 0.08, 4), ...DOCUMENTED },
  // Ours, and embedded: the one model whose price is known to be nothing.
  { models: [RECIPE_MODEL], prices: prices(0, 0, 0, 0, 0), date: '2026-11-15', unconfirmed: false },
];

/** What a response (not a sum of responses: rows may be tiered by prompt length) costs. */
export function costOf(model: string, usage: Usage, table: PriceTable = PRICES): Cost {
  const row = findRow(model, table);
  if (row === undefined) return { usd: null, atLeastUsd: 0, unconfirmed: false, parts: null };
  const shares = costShares(usage, pricesFor(row, usage));
  const { input, write5m, write1h, read, output } = shares;
  const search = searchCost(usage.web_search_requests ?? 0);
  const unconfirmed = row.unconfirmed || search > 0;
  const atLeastUsd = (input ?? 0) + (write5m ?? 0) + (write1h ?? 0) + (read ?? 0) + (output ?? 0) + search;
  if (!isComplete(shares) || isUncertain(usage)) return { usd: null, atLeastUsd, unconfirmed, parts: null };
  return { usd: atLeastUsd, atLeastUsd, unconfirmed, parts: { ...shares, ...(search > 0 && { search }) } };
}

export function searchCost(searches: number): number {
  return searches * SEARCH_USD;
}

export function findRow(model: string, table: PriceTable): PriceRow | undefined {
  const id = findModel(model)?.id;
  return table.find(({ models }) => models.includes(model) || (id !== undefined && models.includes(id)));
}

function pricesFor(row: PriceRow, usage: Usage): TokenPrices {
  const prompt = usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
  return row.above !== undefined && prompt > row.above.promptTokens ? row.above.prices : row.prices;
}

type CostShares = { [Part in keyof TokenPrices]: number | null };

function costShares(usage: Usage, row: TokenPrices): CostShares {
  const long = usage.cache_creation_1h_input_tokens;
  // A whole that is not known is at least its share.
  const whole = isUncertain(usage, 'cache_creation_input_tokens')
    ? Math.max(long, usage.cache_creation_input_tokens)
    : usage.cache_creation_input_tokens;
  return {
    input: share(usage.input_tokens, row.input),
    write5m: share(whole - long, row.write5m),
    write1h: share(long, row.write1h),
    read: share(usage.cache_read_input_tokens, row.read),
    output: share(usage.output_tokens, row.output),
  };
}

function isComplete(shares: CostShares): shares is { [Part in keyof TokenPrices]: number } {
  return Object.values(shares).every((part) => part !== null);
}

/** No tokens cost nothing whatever the price; a count that cannot be true has no price at all. */
function share(tokens: number, price: number | null): number | null {
  if (tokens === 0) return 0;
  if (price === null || !(tokens > 0)) return null;
  return (tokens * price) / 1_000_000;
}

/** Prices that a user states, put in front of the table (MODEL-3). */
type PriceOverrides = Readonly<Record<string, { readonly [Part in keyof TokenPrices]?: number | undefined }>>;

/**
 * A price that is not stated keeps the table's value for the same model, else stays unknown. A stated one counts for
 * prompts of every length: overrides have no tiers.
 */
export function overridePrices(table: PriceTable, overrides: PriceOverrides): PriceTable {
  const rows = Object.entries(overrides).map(([model, stated]): PriceRow => {
    const row = findRow(model, table);
    const over = (known: TokenPrices): TokenPrices => ({ ...known, ...withoutUndefined(stated) });
    return {
      ...(row?.above === undefined ? {} : { above: { ...row.above, prices: over(row.above.prices) } }),
      models: [model],
      prices: over(row?.prices ?? UNKNOWN),
      date: 'settings',
      unconfirmed: row?.unconfirmed === true && Object.keys(stated).length < Object.keys(UNKNOWN).length,
    };
  });
  return rows.length === 0 ? table : [...rows, ...table];
}

function withoutUndefined(stated: PriceOverrides[string]): Partial<TokenPrices> {
  return Object.fromEntries(Object.entries(stated).filter(([, price]) => price !== undefined));
}

/** What requests may have cost of which no response tells (MODEL-3): unknown, but not without bound. */
interface UnansweredRequest {
  model: string;
  bytes: number;
  maxTokens: number;
  /** The longest life of what it marks for the cache; null when it marks nothing. */
  ttl: '5m' | '1h' | null;
}

/** All of the prompt at the dearest price that it can have, and all the output that it allows. Null without a price. */
export function mostCost(request: UnansweredRequest, prices: PriceTable): number | null {
  const { model, bytes, maxTokens, ttl } = request;
  const prompt = Math.ceil(bytes / LEAST_BYTES_PER_TOKEN);
  const written = {
    cache_creation_input_tokens: prompt,
    cache_creation_1h_input_tokens: ttl === '1h' ? prompt : 0,
  };
  const input = ttl === null ? { input_tokens: prompt } : written;
  return costOf(model, { ...NO_USAGE, ...input, output_tokens: maxTokens }, prices).usd;
}

/** Whether the provider may have counted an attempt that failed: it may have taken it, and did not say. */
export function mayHaveCost(error: ModelError): boolean {
  if (error.status !== undefined || error.usage !== undefined) return false;
  return !NEVER_SENT.includes(systemCode(error.cause));
}
