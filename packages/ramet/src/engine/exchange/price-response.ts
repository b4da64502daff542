/** What a response cost, and what is said where that cannot be known. */
import { type Cost, costOf, mayHaveCost } from '../../model/prices.ts';
import type { ModelResponse } from '../../model/provider.ts';
import type { FailedAttempt } from '../../model/rate/retry.ts';
import type { EventOf } from '../../schema/events.ts';
import { NO_USAGE, type Usage } from '../../schema/usage.ts';
import type { HostedAgent } from '../agent/hosted-agent.ts';
import type { ModelExchange } from './model-exchange.ts';

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

/** An attempt that failed, as it is recorded (MODEL-2): with what the provider had counted, or that it may have. */
export function failedRequest(
  { runtime, conversation }: HostedAgent,
  request: string,
  { attempt, error, retryInMs }: FailedAttempt,
): EventOf<'request.failed'> {
  const { code, message, usage = null } = error;
  return {
    type: 'request.failed',
    request,
    attempt,
    code,
    status: error.status ?? null,
    message,
    retryInMs,
    usage,
    costUsd: usage === null ? 0 : costOf(conversation.head.model, usage, runtime.prices).usd,
    ...(mayHaveCost(error) && { mayCost: true }),
  };
}
