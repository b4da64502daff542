/**
 * Keeps an agent's prefix in the provider's cache while it waits for its children (FORK-7): near the end of the
 * entry's life a request without output reads it, as long as that is cheaper than writing it again. Such a request
 * is recorded and billed as `refresh` and never becomes part of the conversation. Children that mark the same prefix
 * refresh it too; then nothing is sent.
 *
 * Invariants
 * 1. Nothing is sent where prices are unknown or the provider has no such request.
 * 2. It does not keep the process alive, and nothing of it is left once it is disposed of.
 */

import type { BlockPosition, Conversation } from '../../conversation/conversation.ts';
import { planRequest, repeatedMarks, requestBody } from '../../conversation/request.ts';
import { tokensAt } from '../../model/cache/cache-map.ts';
import { costOf, mayHaveCost } from '../../model/prices.ts';
import type { ModelProvider } from '../../model/provider.ts';
import { describeError, ModelError } from '../../schema/errors.ts';
import { isPromptUncertain, NO_USAGE, type Usage } from '../../schema/usage.ts';
import type { HostedAgent } from '../agent/agent.ts';
import { decideKeepWarm } from './decide-keep-warm.ts';
import { mostCostOf, recordResponse } from './exchange.ts';
import { keepingPrices, REFRESH_MARGIN_MS, SHORT_LIFETIME_MS } from './price-response.ts';

export interface KeepingWarmOptions {
  /** Told what every refresh cost. */
  onSpent?: (usage: Usage, costUsd: number | null) => void;
}

type Refresh = NonNullable<ModelProvider['refresh']>;

/** For as long as the agent waits: `using _ = keepingWarm(agent)`. */
export function keepingWarm(agent: HostedAgent, options: KeepingWarmOptions = {}): Disposable {
  const { clock } = agent.runtime;
  const over = new AbortController();
  const startedAt = clock.now();
  void keep(agent, over.signal, options).catch((error) => {
    if (over.signal.aborted) return;
    const why = `the refresh failed: ${describeError(error)}`;
    agent.record({ type: 'cache.kept', choice: 'lapse', why, tokens: keptTokens(agent) });
  });
  return {
    [Symbol.dispose]() {
      if (over.signal.aborted) return;
      over.abort();
      const waitedMs = clock.now() - startedAt;
      if (waitedMs > SHORT_LIFETIME_MS) agent.here.waiting.longWaitsMs.push(waitedMs);
    },
  };
}

async function keep(agent: HostedAgent, signal: AbortSignal, options: KeepingWarmOptions): Promise<void> {
  const { runtime, conversation, previousEnd, here } = agent;
  const refresh = runtime.provider.refresh?.bind(runtime.provider);
  if (refresh === undefined || previousEnd === null || !isRefreshable(agent)) return;
  const prefix = conversation.digestAt(previousEnd);
  const tokens = keptTokens(agent);
  const startedAt = runtime.clock.now();
  for (let refreshes = 0; ; ) {
    const now = runtime.clock.now();
    const until = runtime.cacheMap.readableUntil(prefix, now);
    if (until === null) return;
    if (until - now > REFRESH_MARGIN_MS) {
      await runtime.clock.sleep(until - now - REFRESH_MARGIN_MS, signal, { keepsAlive: false });
      if (signal.aborted) return;
      continue;
    }
    const rate = runtime.rate.request(conversation.head.model);
    if (rate.pausedMs() > 0 || rate.awaySince !== null) {
      const why = 'the provider lets nobody send now';
      agent.record({ type: 'cache.kept', choice: 'lapse', why, tokens });
      return;
    }
    const { ttl } = here.waiting;
    const waitedMs = now - startedAt;
    const decided = decideKeepWarm({ tokens, prices: keepingPrices(agent), ttl, refreshes, waitedMs });
    agent.record({ type: 'cache.kept', ...decided, tokens });
    if (decided.choice === 'lapse') return;
    await refreshOnce(agent, { refresh, end: previousEnd, signal, options });
    if (signal.aborted) return;
    refreshes += 1;
  }
}

function keptTokens({ conversation, previousEnd }: HostedAgent): number {
  return previousEnd === null ? 0 : tokensAt(conversation, conversation.indexOf(previousEnd));
}

/** The API refuses a request without output that thinks, and thinking is part of the prefix. */
function isRefreshable(agent: HostedAgent): boolean {
  const { read, write5m } = keepingPrices(agent);
  return read !== null && write5m !== null && agent.conversation.head.thinking?.type !== 'enabled';
}

interface RefreshCall {
  readonly refresh: Refresh;
  readonly end: BlockPosition;
  readonly signal: AbortSignal;
  readonly options: KeepingWarmOptions;
}

/** A refresh that fails is not tried again: the entry lapses, and the next request writes it. */
async function refreshOnce(
  agent: HostedAgent,
  { refresh, end, signal, options }: RefreshCall,
): Promise<void> {
  const { cacheMap, clock, journal, prices } = agent.runtime;
  const conversation: Conversation = agent.conversation.fork(end.message + 1);
  const { model } = conversation.head;
  const breakpoints = repeatedMarks(conversation, end, agent.here.waiting.ttl);
  const request = `${agent.spec.id}/${agent.state.requests + 1}`;
  const planned = planRequest(conversation, breakpoints, clock.now());
  const body = requestBody(conversation, { breakpoints, maxTokens: 0 });
  agent.record({
    type: 'request.started',
    request,
    turn: 0,
    attempt: 1,
    model,
    messages: conversation.messages.length,
    maxTokens: 0,
    breakpoints,
    prompt: conversation.digest,
    cache: cacheMap.predict(planned),
    atMostUsd: mostCostOf(agent, { model, body }, 0, breakpoints),
    source: 'refresh',
  });
  await journal.commit('written');
  if (signal.aborted) return;
  cacheMap.requestStarted(planned);
  try {
    const response = await refresh({ model, body }, { signal });
    cacheMap.responseBegan(planned);
    const usage = response.usage ?? NO_USAGE;
    const { usd, atLeastUsd } = costOf(model, usage, prices);
    const costUsd = response.usage === null ? null : usd;
    if (response.usage !== null && !isPromptUncertain(usage)) cacheMap.responseCompleted(planned, usage);
    recordResponse(agent, { request, response, usage, costUsd, atLeastUsd, source: 'refresh' }, false);
    options.onSpent?.(usage, costUsd);
  } catch (error) {
    cacheMap.requestFailed(planned);
    recordFailure(agent, request, error);
    throw error;
  }
}

function recordFailure(agent: HostedAgent, request: string, error: unknown): void {
  const known = error instanceof ModelError ? error : null;
  agent.record({
    type: 'request.failed',
    request,
    attempt: 1,
    code: known?.code ?? 'cancelled',
    status: known?.status ?? null,
    message: describeError(error),
    retryInMs: null,
    usage: null,
    costUsd: 0,
    ...((known === null || mayHaveCost(known)) && { mayCost: true }),
  });
}
