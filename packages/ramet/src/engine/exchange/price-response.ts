/** What a response cost, and what is said where that cannot be known. */
import { type Cost, costOf } from '../../model/prices.ts';
import type { ModelResponse } from '../../model/provider.ts';
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
