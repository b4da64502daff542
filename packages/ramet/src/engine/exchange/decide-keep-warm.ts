/**
 * What happens to an agent's prefix in the provider's cache while it waits for its children (FORK-7), from prices
 * alone: kept by refreshes, left to lapse and written again, or written for an hour in the first place.
 */
import type { CacheTtl } from '../../model/cache/cache-map.ts';

/** US dollars per million tokens; null is unknown. */
export interface KeepingPrices {
  readonly write5m: number | null;
  readonly write1h: number | null;
  readonly read: number | null;
}

export interface KeepWarmFacts {
  /** Length of the prefix. */
  readonly tokens: number;
  readonly prices: KeepingPrices;
  readonly ttl: CacheTtl;
  /** Refreshes in this wait so far, and how long it has lasted. */
  readonly refreshes: number;
  readonly waitedMs: number;
}

export interface KeepWarmChoice {
  readonly choice: 'refresh' | 'lapse';
  readonly why: string;
}

/** A refresh reads the prefix once; a lapse costs what writing it takes above reading it. */
export function decideKeepWarm({ tokens, prices, ttl, refreshes, waitedMs }: KeepWarmFacts): KeepWarmChoice {
  const write = ttl === '1h' ? prices.write1h : prices.write5m;
  if (write === null || prices.read === null) return { choice: 'lapse', why: 'the prices are not known' };
  const refreshed = usd(tokens, prices.read) * (refreshes + 1);
  const rewritten = usd(tokens, write - prices.read);
  const after = `after ${Math.round(waitedMs / 1_000)} s and ${refreshes} refreshes`;
  return refreshed < rewritten
    ? {
        choice: 'refresh',
        why: `${after}: ${dollars(refreshed)} so far against ${dollars(rewritten)} to write again`,
      }
    : { choice: 'lapse', why: `${after}: writing it again for ${dollars(rewritten)} is cheaper` };
}

export interface LifetimeFacts {
  readonly tokens: number;
  /** What the next request writes. */
  readonly newTokens: number;
  readonly prices: KeepingPrices;
  /** Earlier waits of this agent that were longer than five minutes. */
  readonly longWaitsMs: readonly number[];
  /** How much of its life an entry has when it is refreshed. */
  readonly refreshEveryMs: number;
}

export interface LifetimeChoice {
  readonly ttl: CacheTtl;
  readonly why: string;
}

/** An hour costs more for every token written; it is taken when another wait like the earlier ones would cost more. */
export function decideLifetime(facts: LifetimeFacts): LifetimeChoice {
  const { tokens, newTokens, longWaitsMs, refreshEveryMs } = facts;
  const { write5m, write1h, read } = facts.prices;
  if (longWaitsMs.length === 0) return { ttl: '5m', why: 'no wait was longer than five minutes' };
  if (write5m === null || write1h === null || read === null) {
    return { ttl: '5m', why: 'the prices are not known' };
  }
  const meanMs = longWaitsMs.reduce((sum, ms) => sum + ms, 0) / longWaitsMs.length;
  const refreshes = Math.floor(meanMs / refreshEveryMs);
  const kept = Math.min(usd(tokens, read) * refreshes, usd(tokens, write5m - read));
  const surcharge = usd(newTokens, write1h - write5m);
  const why = `waits of ${Math.round(meanMs / 60_000)} min: ${dollars(surcharge)} more for an hour, ${dollars(kept)} to keep five minutes`;
  return { ttl: surcharge < kept ? '1h' : '5m', why };
}

function usd(tokens: number, price: number): number {
  return (tokens * price) / 1_000_000;
}

function dollars(amount: number): string {
  return `$${amount.toFixed(6)}`;
}
