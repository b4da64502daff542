/**
 * Moves a conversation to another model (MODEL-2). Thinking blocks that are bound to their model would be
 * refused or dropped there, so they are stripped; the new prefix is cold for the new model in any case.
 */
import { type FrozenMessage, freezeHead } from '../../conversation/conversation.ts';
import { findModel } from '../../model/catalog.ts';
import { fitThinking } from '../../model/thinking.ts';
import type { ThinkingConfig } from '../../schema/content.ts';
import type { EventOf } from '../../schema/events.ts';
import type { Agent } from '../agent/agent.ts';

/** Changes the model or how it thinks: a new prefix either way. */
export function switchModel(
  agent: Agent,
  cause: Extract<EventOf<'conversation.replaced'>['cause'], 'fallback' | 'model'>,
  model: string,
  wanted?: ThinkingConfig,
): void {
  const { head, messages } = agent.conversation;
  const thinking = fitThinking(wanted ?? head.thinking ?? agent.spec.thinking, model);
  const strip = model !== head.model && (bindsThinking(head.model) || bindsThinking(model));
  const kept = strip ? withoutThinking(messages) : messages;
  agent.replaceConversation({ cause, model }, freezeHead({ ...head, model, thinking }), kept);
}

/** A model of which nothing is known is taken to bind: a stripped block costs little, a refused request all. */
export function bindsThinking(model: string): boolean {
  return findModel(model)?.binding !== 'none';
}

/** A message of thinking alone disappears; its neighbours of one role are one turn to the provider. */
export function withoutThinking(messages: readonly FrozenMessage[]): FrozenMessage[] {
  return messages
    .map((message) => ({
      ...message,
      blocks: message.blocks.filter(({ type }) => type !== 'thinking' && type !== 'redacted_thinking'),
    }))
    .filter((message) => message.blocks.length > 0);
}
