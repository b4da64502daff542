/** What a request carries: the agent's conversation, or that with something that only this request has. */
import type { Conversation } from '../../conversation/conversation.ts';
import type { Agent } from '../agent/agent.ts';
import type { Aside, ExchangeOptions, ReplacedBlocks } from './model-exchange.ts';

export function sentConversation(
  { conversation }: Pick<Agent, 'conversation'>,
  { aside, instead = [] }: Pick<ExchangeOptions, 'aside' | 'instead'>,
): Conversation {
  if (aside !== undefined) return withAside(conversation, aside);
  return instead.length === 0 ? conversation : withOthers(conversation, instead);
}

function withAside(conversation: Conversation, { messages, blocks }: Aside): Conversation {
  const whole = conversation.fork(messages);
  whole.append({ role: 'user', blocks, shared: 0 });
  return whole;
}

/** What stands before the first of them stays as it was sent before, byte for byte. */
function withOthers(conversation: Conversation, instead: readonly ReplacedBlocks[]): Conversation {
  const others = new Map(instead.map(({ message, blocks }) => [message, blocks]));
  const first = Math.min(...others.keys());
  const whole = conversation.fork(first);
  for (const [at, message] of conversation.messages.entries()) {
    if (at < first) continue;
    const blocks = others.get(at);
    whole.append(blocks === undefined ? message : { ...message, blocks });
  }
  return whole;
}
