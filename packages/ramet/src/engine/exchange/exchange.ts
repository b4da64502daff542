/**
 * One exchange with the model: build the request, record it, send it with retries, record what came. The only
 * caller of a provider. It leaves deciding what the response means to `stop-reason.ts`.
 */
import type { Conversation } from '../../conversation/conversation.ts';
import { freezeJson } from '../../conversation/frozen-block.ts';
import {
  modelRequest,
  placeBreakpoints,
  planRequest,
  repeatBreakpoints,
} from '../../conversation/request.ts';
import type { PlannedRequest } from '../../model/cache/cache-map.ts';
import { mostCost } from '../../model/prices.ts';
import type { ModelRequest, ModelResponse } from '../../model/provider.ts';
import type { RateRequest } from '../../model/rate/rate-window.ts';
import { withRetries } from '../../model/rate/retry.ts';
import { withThinkingRoom } from '../../model/thinking.ts';
import { Cancelled, ModelError } from '../../schema/errors.ts';
import type { Breakpoint, EventOf } from '../../schema/events.ts';
import { addCost, isPromptUncertain } from '../../schema/usage.ts';
import { hasKey } from '../../system/persistent.ts';
import type { Agent, HostedAgent } from '../agent/agent.ts';
import { isBackground } from '../agent/agent-spec.ts';
import type { ExchangeOptions, ModelExchange } from './model-exchange.ts';
import { costUnder, type FailedRequest, failedRequest, markLifetime, priced } from './price-response.ts';
import { ProviderWait, RateTurn } from './rate-turn.ts';
import { sentConversation } from './sent-conversation.ts';

/** The part of `AgentHost` that asks the model: where the keys and the rate window are (EXEC-2). */
export async function exchangeHere(agent: HostedAgent, options: ExchangeOptions): Promise<ModelExchange> {
  const { runtime } = agent;
  const { aside } = options;
  const conversation = sentConversation(agent, options);
  const { model } = conversation.head;
  const breakpoints =
    aside === undefined
      ? placeBreakpoints(conversation, agent.previousEnd, {
          skipWrite: agent.spec.skipCacheWrite,
          ttl: markLifetime(agent),
        })
      : repeatBreakpoints(conversation, agent.previousEnd);
  const maxTokens = withThinkingRoom(options.maxTokens, conversation.head);
  const sent = modelRequest(conversation, { breakpoints, maxTokens });
  const { requests } = agent.state;
  const request = `${agent.spec.id}/${requests + 1}`;
  const isFirst = requests === 0 && aside === undefined;
  if (isFirst) guardPrefix(agent);

  const limits = runtime.rate.request(model, patienceFor(agent, model));
  const wait = new ProviderWait(agent);
  const outgoing: Outgoing = { request, conversation, breakpoints, maxTokens, sent, limits, wait, options };
  const response = await withRetries((attempt) => attemptOnce(agent, outgoing, attempt), {
    policy: isBackground(agent) ? { ...runtime.retry, maxRetries: 0 } : runtime.retry,
    clock: runtime.clock,
    signal: options.signal,
    onFailure: (failure) => recordFailure(agent, outgoing, failure),
    limits,
    health: isImpatient(agent, model) ? undefined : runtime.health,
  }).finally(() => {
    if (!options.signal.aborted) wait.end();
  });

  if (aside === undefined) agent.here.launched = true;
  const bill = priced(agent, response);
  options.onSpent(bill.usage, bill.costUsd);
  const reused = isFirst ? reuseOf(agent, bill) : undefined;
  return { ...bill, request, response, source: aside?.source, reused };
}

/** A usage limit is waited out, unless another model is to take over when this one stays unavailable. */
function patienceFor(agent: HostedAgent, model: string): number {
  if (isBackground(agent)) return 0;
  return isImpatient(agent, model) ? agent.runtime.retry.withinMs : Number.POSITIVE_INFINITY;
}

/** Whether another model takes over when this one stays unavailable, or the work is given up. */
function isImpatient(agent: Agent, model: string): boolean {
  const { fallbackModel } = agent.spec;
  return isBackground(agent) || (fallbackModel !== null && fallbackModel !== model);
}

/** What an agent's first request read was written by others: without them it would have been written again. */
function reuseOf(
  agent: HostedAgent,
  { usage, costUsd }: Pick<ModelExchange, 'usage' | 'costUsd'>,
): ModelExchange['reused'] {
  const tokens = usage.cache_read_input_tokens;
  if (tokens === 0) return undefined;
  const written = usage.cache_creation_input_tokens + tokens;
  const alone = costUnder(agent, {
    ...usage,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: written,
  }).usd;
  return { tokens, savedUsd: alone === null || costUsd === null ? null : addCost(alone, -costUsd) };
}

function guardPrefix(agent: HostedAgent): void {
  if (agent.spec.origin !== undefined) agent.runtime.prefixGuard.check(agent);
  agent.here.inherited = null;
}

/** Only the first request of a child waits for others. */
function launchPass(
  agent: HostedAgent,
  { conversation, breakpoints, options: { signal } }: Outgoing,
): Promise<Disposable | null> | null {
  if (agent.here.launched || agent.spec.origin === undefined) return null;
  return agent.runtime.launch.admit({
    conversation,
    breakpoints,
    stays: agent.spec.origin.member === true,
    signal,
    record: (event) => agent.record(event),
  });
}

/** An id that an earlier turn has used would make two calls one: the answer is asked for again. */
function refuseReusedIds(agent: Agent, response: ModelResponse): ModelResponse {
  const reused = callIds(response).find((id) => hasKey(agent.state.calls, id));
  if (reused === undefined) return response;
  const message = `the response uses the tool call id ${reused} a second time`;
  throw new ModelError('stream_broken', 'retryable', message, { usage: response.usage ?? undefined });
}

function callIds({ blocks }: ModelResponse): string[] {
  return blocks.flatMap(({ value }) =>
    value.type === 'tool_use' && 'id' in value ? [String(value.id)] : [],
  );
}

/** What the attempts of one request have in common. */
interface Outgoing {
  readonly request: string;
  readonly conversation: Conversation;
  readonly breakpoints: readonly Breakpoint[];
  /** With room for thinking. */
  readonly maxTokens: number;
  readonly sent: ModelRequest;
  readonly limits: RateRequest;
  readonly wait: ProviderWait;
  readonly options: ExchangeOptions;
}

async function attemptOnce(agent: HostedAgent, outgoing: Outgoing, attempt: number): Promise<ModelResponse> {
  const { limits, wait, options } = outgoing;
  // Before the window: a request that waits for a lead must not hold a turn that the lead may need.
  using _pass = options.aside === undefined ? await launchPass(agent, outgoing) : null;
  using turn = await RateTurn.take(agent, limits, wait, options.signal);
  try {
    const response = refuseReusedIds(agent, await sendOnce(agent, outgoing, turn, attempt));
    turn.answered(response, outgoing.sent.model);
    return response;
  } catch (error) {
    turn.failed(error);
    // One that is stopped while it comes in is billed as far as it came.
    if (error instanceof Cancelled && error.usage !== undefined)
      recordFailure(agent, outgoing, { attempt, error, retryInMs: null });
    throw error;
  }
}

function recordRequest(
  agent: HostedAgent,
  { request, conversation, breakpoints, maxTokens, sent, options }: Outgoing,
  attempt: number,
  planned: PlannedRequest,
): void {
  const { aside, instead, turn } = options;
  agent.record({
    type: 'request.started',
    request,
    turn,
    attempt,
    model: conversation.head.model,
    messages: aside?.messages ?? conversation.messages.length,
    maxTokens,
    breakpoints: [...breakpoints],
    prompt: conversation.digest,
    cache: agent.runtime.cacheMap.predict(planned),
    atMostUsd: mostCostOf(agent, sent, maxTokens, breakpoints),
    ...(aside && { source: aside.source, aside: agent.store(aside.blocks) }),
    ...(instead && { instead: instead.map((one) => ({ ...one, blocks: agent.store(one.blocks) })) }),
  });
}

async function sendOnce(
  agent: HostedAgent,
  outgoing: Outgoing,
  turn: RateTurn,
  attempt: number,
): Promise<ModelResponse> {
  const { agents, cacheMap, clock, journal, launch, provider } = agent.runtime;
  const { conversation, breakpoints, options, sent, wait } = outgoing;
  const planned = planRequest(conversation, breakpoints, clock.now());
  recordRequest(agent, outgoing, attempt, planned);
  await journal.commit('written');
  if (options.aside === undefined) agent.here.onRequest?.();
  cacheMap.requestStarted(planned);
  const { answer } = agent.here;
  try {
    const sending = provider.send(sent, {
      signal: options.signal,
      onQuiet: (isQuiet) => (isQuiet ? wait.begin() : wait.end()),
      // The provider may have taken it: on record and on the bill it is a request of its own.
      onResend(error) {
        agent.record(failedRequest(agent, outgoing.request, { attempt, error, retryInMs: 0 }));
        recordRequest(agent, outgoing, attempt, planned);
      },
      onUnused(message) {
        agent.warn('thinking_unused', message);
      },
      onDelta: (delta) => {
        if (delta.type === 'began') {
          turn.began();
          answer.clear();
          wait.end();
          options.onComing?.(true);
          launch.firstTokens.note(planned.model, clock.now() - planned.startedAt);
          cacheMap.responseBegan(planned);
        } else if (options.aside === undefined) {
          if (delta.type === 'text') answer.add(delta.text);
          if (options.partial || agent.here.readers > 0)
            agent.here.sink?.({ type: `${delta.type}_delta`, text: delta.text });
        }
      },
    });
    agents.prepare();
    const response = await sending;
    cacheMap.responseBegan(planned);
    if (response.usage !== null && !isPromptUncertain(response.usage))
      cacheMap.responseCompleted(planned, response.usage);
    return response;
  } catch (error) {
    options.onComing?.(false);
    cacheMap.requestFailed(planned);
    throw error;
  } finally {
    answer.clear();
  }
}

function recordFailure(agent: HostedAgent, outgoing: Outgoing, failure: FailedRequest): void {
  const { request, wait, options } = outgoing;
  const { error, retryInMs } = failure;
  if (retryInMs !== null && error instanceof ModelError && agent.runtime.health?.verdict(error) === 'wait')
    wait.failed();
  const event = failedRequest(agent, request, failure);
  if (event.usage !== null) options.onSpent(event.usage, event.costUsd);
  agent.record(event);
}

export function mostCostOf(
  { runtime }: HostedAgent,
  sent: ModelRequest,
  maxTokens: number,
  breakpoints: readonly Breakpoint[],
): number | null {
  // The body is joined when it is asked for: a copy of the whole conversation.
  const bytes = (sent.pieces ?? [sent.body]).reduce((sum, { byteLength }) => sum + byteLength, 0);
  const ttl = breakpoints.length === 0 ? null : breakpoints.some((mark) => mark.ttl === '1h') ? '1h' : '5m';
  return mostCost({ model: sent.model, bytes, maxTokens, ttl }, runtime.prices);
}

/**
 * Journals a response, and adds its message to the conversation when it is kept: one event for both. It is told if it is
 * one of the conversation.
 */
export function recordResponse(agent: Agent, done: ModelExchange, keep: boolean): void {
  const { response } = done;
  const blocks = response.blocks.map((block) => freezeJson(block.value.type, block.json, true));
  const kept = keep && blocks.length > 0;
  const event: EventOf<'response.completed'> = {
    type: 'response.completed',
    request: done.request,
    messageId: response.id,
    model: response.model,
    stopReason: response.stopReason,
    blocks: agent.store(blocks),
    kept,
    usage: done.usage,
    costUsd: done.costUsd,
    ...(done.costUsd === null && done.atLeastUsd && { atLeastUsd: done.atLeastUsd }),
    firstTokenMs: response.firstTokenMs,
    durationMs: response.durationMs,
    rate: response.rate,
    ...(done.source && { source: done.source }),
    ...(done.reused && { reused: done.reused }),
  };
  const isOwn = done.source === undefined;
  agent.record(event, isOwn ? { blocks: response.blocks.map(({ value }) => value) } : undefined);
}
