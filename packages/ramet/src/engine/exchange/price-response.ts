/**
 * What a response cost, what is said where that cannot be known, and for how long a request's marks are written by the
 * same prices (FORK-7): five minutes, or an hour for an agent that waits for long.
 */

import { type CacheTtl, tokensAt } from '../../model/cache/cache-map.ts';
import { type Cost, costOf, findRow, mayHaveCost } from '../../model/prices.ts';
import type { ModelResponse } from '../../model/provider.ts';
import type { FailedAttempt } from '../../model/rate/retry.ts';
import { type Cancelled, ModelError } from '../../schema/errors.ts';
import type { EventOf } from '../../schema/events.ts';
import { NO_USAGE, type Usage } from '../../schema/usage.ts';
import type { HostedAgent } from '../agent/agent.ts';
import { decideLifetime, type KeepingPrices } from './decide-keep-warm.ts';
import type { ModelExchange } from './model-exchange.ts';

/** How long before its end an entry is refreshed. */
export const REFRESH_MARGIN_MS = 30_000;
export const SHORT_LIFETIME_MS = 300_000;

const UNKNOWN: KeepingPrices = { write5m: null, write1h: null, read: null };

export function costUnder(agent: HostedAgent, usage: Usage): Cost {
  return costOf(agent.conversation.head.model, usage, agent.runtime.prices);
}

export function priced(
  agent: HostedAgent,
  { usage }: ModelResponse,
): Pick<ModelExchange, 'usage' | 'costUsd' | 'atLeastUsd'> {
  if (usage === null) {
    agent.warn('usage_missing', 'the provider reported no usage: the cost of this response is unknown');
    return { usage: NO_USAGE, costUsd: null };
  }
  const { usd, atLeastUsd } = costUnder(agent, usage);
  const { unknown = [] } = usage;
  if (unknown.length > 0) {
    const names = unknown.join(', ');
    const message = `the provider reported an impossible number for ${names}: that part of the cost is unknown`;
    agent.warn('usage_impossible', message);
  }
  return { usage, costUsd: usd, atLeastUsd };
}

export type FailedRequest = Omit<FailedAttempt, 'error'> & { readonly error: ModelError | Cancelled };

/** An attempt that failed, as it is recorded (MODEL-2): with what the provider had counted, or that it may have. */
export function failedRequest(
  { runtime, conversation }: HostedAgent,
  request: string,
  { attempt, error, retryInMs }: FailedRequest,
): EventOf<'request.failed'> {
  const { code, message, usage = null } = error;
  return {
    type: 'request.failed',
    request,
    attempt,
    code,
    status: error instanceof ModelError ? (error.status ?? null) : null,
    message: error instanceof ModelError ? message : 'stopped while it answered',
    retryInMs,
    usage,
    costUsd: usage === null ? 0 : costOf(conversation.head.model, usage, runtime.prices).usd,
    ...(error instanceof ModelError && mayHaveCost(error) && { mayCost: true }),
  };
}

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
