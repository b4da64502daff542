/**
 * How full an agent's context window is, and whether that is a reason to compact. The last response's usage is the
 * measure; what the conversation has gained since is estimated, since a turn of large results may be too much at once.
 */
import type { Conversation } from '../../conversation/conversation.ts';
import { estimateTokens } from '../../conversation/frozen-block.ts';
import { contextWindowOf } from '../../model/catalog.ts';
import type { AgentSpec } from '../agent/runtime.ts';

export interface ContextState {
  /** What a refusal said the window of this model is. */
  learnedWindow: { model: string; tokens: number } | null;
  /** After a compaction that failed: the length from which on another is tried. */
  notBefore: number;
}

export interface ContextOwner {
  readonly context: ContextState;
  /** The last response's count of the prompt and itself, and how many messages that was. */
  readonly measured: { readonly tokens: number; readonly messages: number } | null;
  readonly conversation: Conversation;
  readonly spec: Pick<AgentSpec, 'compactionThreshold' | 'contextWindow'>;
}

const DEFAULT_THRESHOLD = 0.8;
/** How much a conversation grows before a compaction that failed is tried again. */
const GROWTH = 1.1;

/** What a caller set cannot be more than what a provider said. */
export function contextWindow({ context, conversation, spec }: ContextOwner): number {
  const { model } = conversation.head;
  const known = spec.contextWindow ?? contextWindowOf(model);
  return context.learnedWindow?.model === model ? Math.min(known, context.learnedWindow.tokens) : known;
}

export function compactionThreshold(owner: ContextOwner): number {
  return Math.floor(contextWindow(owner) * (owner.spec.compactionThreshold ?? DEFAULT_THRESHOLD));
}

export function contextTokens({ measured, conversation }: ContextOwner): number {
  const since = conversation.messages.slice(measured?.messages ?? 0);
  const { tools, system } = conversation.head;
  const base = measured?.tokens ?? estimateTokens([...tools, ...system]);
  return base + estimateTokens(since.flatMap(({ blocks }) => blocks));
}

export function isCompactionDue(owner: ContextOwner): boolean {
  const tokens = contextTokens(owner);
  return tokens >= compactionThreshold(owner) && tokens >= owner.context.notBefore;
}

export function postponeCompaction(owner: ContextOwner): void {
  owner.context.notBefore = Math.ceil(contextTokens(owner) * GROWTH);
}
