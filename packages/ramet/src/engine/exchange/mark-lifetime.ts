/** For how long a request's marks are written (FORK-7): five minutes, or an hour for an agent that waits for long. */
import { type CacheTtl, tokensAt } from '../../model/cache/cache-map.ts';
import { findRow } from '../../model/prices.ts';
import type { HostedAgent } from '../agent/hosted-agent.ts';
import { decideLifetime, type KeepingPrices } from './decide-keep-warm.ts';

/** How long before its end an entry is refreshed. */
export const REFRESH_MARGIN_MS = 30_000;
export const SHORT_LIFETIME_MS = 300_000;

const UNKNOWN: KeepingPrices = { write5m: null, write1h: null, read: null };

export function keepingPrices({ conversation, runtime }: HostedAgent): KeepingPrices {
  return findRow(conversation.head.model, runtime.prices)?.prices ?? UNKNOWN;
}

/** The lifetime of the next request's marks. All have the same: those of an hour must come before others. */
export function markLifetime(agent: HostedAgent): CacheTtl {
  const { conversation, previousEnd } = agent;
  const { waiting } = agent.here;
  if (waiting.longWaitsMs.length === 0) return waiting.ttl;
  const system = conversation.head.system.length;
  const tokens = tokensAt(conversation, system + conversation.chain.length - 1);
  const old = previousEnd === null ? 0 : tokensAt(conversation, conversation.indexOf(previousEnd));
  const { ttl, why } = decideLifetime({
    tokens,
    newTokens: tokens - old,
    prices: keepingPrices(agent),
    longWaitsMs: waiting.longWaitsMs,
    refreshEveryMs: SHORT_LIFETIME_MS - REFRESH_MARGIN_MS,
  });
  if (ttl !== waiting.ttl) {
    const choice = ttl === '1h' ? 'hour' : 'minutes';
    agent.record({ type: 'cache.kept', choice, why, tokens });
    waiting.ttl = ttl;
  }
  return ttl;
}
