/**
 * How full an agent's context window is, and whether that is a reason to compact. The last response's usage is the
 * measure; what the conversation has gained since is estimated, since a turn of large results may be too much at once.
 */
import type { Conversation } from '../../conversation/conversation.ts';
import { estimateTokens } from '../../conversation/frozen-block.ts';
import type { AgentState } from '../../journal/projections/agent-state.ts';
import { contextWindowOf } from '../../model/catalog.ts';
import type { AgentSpec } from '../agent/runtime.ts';

interface ContextOwner {
  readonly state: Pick<AgentState, 'learnedWindow' | 'compactFromTokens'>;
  /** The last response's count of the prompt and itself, and how many messages that was. */
  readonly measured: { readonly tokens: number; readonly messages: number } | null;
  readonly conversation: Conversation;
  readonly spec: Pick<AgentSpec, 'compactionThreshold' | 'contextWindow'>;
}

const DEFAULT_THRESHOLD = 0.8;
/** How much a conversation grows before a compaction that failed is tried again. */
const GROWTH = 1.1;

/** What a caller set cannot be more than what a provider said. */
export function contextWindow({ state, conversation, spec }: ContextOwner): number {
  const { model } = conversation.head;
  const { learnedWindow } = state;
  const known = spec.contextWindow ?? contextWindowOf(model);
  return learnedWindow?.model === model ? Math.min(known, learnedWindow.tokens) : known;
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
  return tokens >= compactionThreshold(owner) && tokens >= owner.state.compactFromTokens;
}

/** After one that failed: how long the conversation must be before another is tried. */
export function tokensToRetryAt(owner: ContextOwner): number {
  return Math.ceil(contextTokens(owner) * GROWTH);
}
