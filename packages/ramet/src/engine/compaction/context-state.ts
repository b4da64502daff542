/**
 * How full an agent's context window is, and whether that is a reason to compact. The last response's usage is the
 * measure; what the conversation has gained since is estimated, since a turn of large results may be too much at once.
 */
import type { Conversation } from '../../conversation/conversation.ts';
import { contentOf, estimateTokens, type FrozenBlock } from '../../conversation/frozen-block.ts';
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

export interface ContextPart {
  readonly name: string;
  readonly tokens: number;
}

/** What fills an agent's context window. */
export interface ContextUse {
  readonly tokens: number;
  /** Infinite for a model without one. */
  readonly window: number;
  /** The conversation is compacted once it has this many tokens. */
  readonly compactsAt: number;
  /** Shares of the whole, by size; the largest first. */
  parts(): ContextPart[];
}

export function contextUse(owner: ContextOwner): ContextUse {
  const tokens = contextTokens(owner);
  return {
    tokens,
    window: contextWindow(owner),
    compactsAt: compactionThreshold(owner),
    parts: () => contextParts(owner.conversation, tokens),
  };
}

/** Only the whole is measured: it is divided by the size of what it consists of. */
function contextParts({ head, messages }: Conversation, tokens: number): ContextPart[] {
  const sizes = new Map<string, number>();
  const tools = new Map<string, string>();
  const add = (name: string, block: FrozenBlock): void => {
    sizes.set(name, (sizes.get(name) ?? 0) + estimateTokens([block]));
  };
  for (const block of head.tools) add('tool definitions', block);
  for (const block of head.system) add('system prompt', block);
  for (const { role, blocks } of messages)
    for (const [index, block] of blocks.entries())
      add(partName(block, role === 'user' && index < blocks.length - 1, tools), block);
  const all = sizes.values().reduce((sum, size) => sum + size, 0);
  return Array.from(sizes, ([name, size]) => ({ name, tokens: Math.round((size / all) * tokens) })).sort(
    (a, b) => b.tokens - a.tokens,
  );
}

/** `isBefore`: it stands before a prompt in the same message. `tools` learns the tools of calls. */
function partName(block: FrozenBlock, isBefore: boolean, tools: Map<string, string>): string {
  const { type, id, name, tool_use_id } = contentOf(block);
  if (type === 'tool_use') {
    tools.set(String(id), String(name));
    return 'tool calls';
  }
  if (type === 'tool_result') return `results of ${tools.get(String(tool_use_id)) ?? 'tools'}`;
  if (type === 'thinking' || type === 'redacted_thinking') return 'thinking';
  if (type === 'image') return 'images';
  return isBefore ? 'instructions and attachments' : 'prompts and answers';
}
