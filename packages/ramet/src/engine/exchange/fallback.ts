/**
 * Moves a conversation to the fallback model (MODEL-2). Thinking blocks that are bound to their model would be
 * refused or dropped there, so they are stripped; the new prefix is cold for the new model in any case.
 */
import { type Conversation, type FrozenMessage, freezeHead } from '../../conversation/conversation.ts';
import { findModel } from '../../model/catalog.ts';
import { fitThinking } from '../../model/thinking.ts';
import type { ThinkingConfig } from '../../schema/content.ts';
import { LimitReached, ModelError } from '../../schema/errors.ts';
import type { Agent } from '../agent/agent.ts';
import type { ExchangeOptions, ModelExchange } from './model-exchange.ts';

export async function exchangeOrFallBack(agent: Agent, options: ExchangeOptions): Promise<ModelExchange> {
  try {
    return await agent.runtime.host.exchange(agent, options);
  } catch (error) {
    const { fallbackModel } = agent.spec;
    const { model } = agent.conversation.head;
    const failed = error instanceof ModelError || error instanceof LimitReached;
    const unavailable = failed && error.family === 'retryable';
    if (!unavailable || fallbackModel === null || fallbackModel === model) throw error;
    const message = `${error.message}; continuing with ${fallbackModel}`;
    agent.warn('fallback_model', message);
    options.emit({ type: 'warning', code: 'fallback_model', message });
    switchModel(agent, fallbackModel);
    return agent.runtime.host.exchange(agent, options);
  }
}

/** Changes the model or how it thinks: a new prefix either way. */
export function switchModel(agent: Agent, model: string, wanted?: ThinkingConfig): void {
  const { head, messages } = agent.conversation;
  const thinking = fitThinking(wanted ?? head.thinking ?? agent.spec.thinking, model);
  const strip = model !== head.model && (bindsThinking(head.model) || bindsThinking(model));
  const kept = strip ? withoutThinking(messages) : messages;
  agent.replaceConversation('fallback', freezeHead({ ...head, model, thinking }), kept);
}

/** A model of which nothing is known is taken to bind: a stripped block costs little, a refused request all. */
export function bindsThinking(model: string): boolean {
  return findModel(model)?.binding !== 'none';
}

/** A message of thinking alone disappears; its neighbours of one role are one turn to the provider. */
export function withoutThinking(messages: Conversation['messages']): FrozenMessage[] {
  return messages
    .map((message) => ({
      ...message,
      blocks: message.blocks.filter(({ type }) => type !== 'thinking' && type !== 'redacted_thinking'),
    }))
    .filter((message) => message.blocks.length > 0);
}
