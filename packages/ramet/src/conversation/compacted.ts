/**
 * What a compaction keeps (RES-7): the head as it is, a first message made of what must not be lost and the summary
 * of the rest, and the latest turns. It leaves asking for the summary, and when to do all this, to the engine.
 *
 * Invariants
 * 1. The blocks that other runs share come first and unchanged, so the breakpoint after them still hits.
 * 2. The kept turns begin at a turn and end where the conversation ended: every call keeps its result.
 * 3. What no summary covers is kept, its tool results cut if need be.
 * 4. A fork keeps the rules by which it is known.
 * 5. Thinking that is bound to its prefix is left out, except in the turn whose calls wait for their results: there
 *    a provider refuses a message without it, and drops by itself what no longer holds.
 */
import type { FrozenMessage } from './conversation.ts';
import { cutResults } from './cut-results.ts';
import { forkMarkOf } from './fork.ts';
import { freezeBlock } from './frozen-block.ts';
import { type KeptRecord, recordText } from './kept-record.ts';
import { estimateTokens } from './token-estimate.ts';
import { answersCalls, turnStarts } from './turn-starts.ts';

export interface CompactionPlan {
  /** The first message that is kept. */
  readonly tail: number;
  /** How many messages the summary is made of. */
  readonly summarised: number;
}

/**
 * Null when there is nothing between the first message and what is kept. `unread` counts the turns at the end that
 * the summary is made without, for a conversation that no longer fits a request.
 */
export function planCompaction(
  messages: readonly FrozenMessage[],
  options: { tailTokens: number; unread: number },
): CompactionPlan | null {
  const starts = turnStarts(messages);
  const last = starts.at(-1);
  if (last === undefined) return null;
  const summarised = options.unread === 0 ? messages.length : questionPlace(messages, starts, options.unread);
  if (summarised === undefined) return null;
  let tail = Math.min(last, summarised);
  for (const start of starts.toReversed()) {
    if (start >= tail) continue;
    if (estimateTokens(messages.slice(start).flatMap(({ blocks }) => blocks)) > options.tailTokens) break;
    tail = start;
  }
  return tail <= 1 ? null : { tail, summarised };
}

/** Where a question can be asked after leaving out that many turns: before an answer. */
function questionPlace(
  messages: readonly FrozenMessage[],
  starts: readonly number[],
  unread: number,
): number | undefined {
  return starts.filter((start) => messages[start]?.role === 'assistant').at(-unread);
}

export interface CompactionKeeps {
  /** The message that opened the conversation: shared instructions, environment, and the first prompt last. */
  readonly opening: FrozenMessage;
  readonly record: KeptRecord;
  /** Beyond this the tool results of what is kept are cut. */
  readonly mostTailTokens: number;
  readonly stripThinking: boolean;
}

export function compactedMessages(
  messages: readonly FrozenMessage[],
  { tail }: CompactionPlan,
  keeps: CompactionKeeps,
): FrozenMessage[] {
  const { opening } = keeps;
  const record = freezeBlock({ type: 'text', text: recordText(keeps.record) });
  const first: FrozenMessage = {
    role: 'user',
    shared: opening.shared,
    blocks: [...opening.blocks.slice(0, -1), ...forkMarkOf(messages.slice(0, tail)), record],
  };
  const kept = keeps.stripThinking ? withoutBoundThinking(messages.slice(tail)) : messages.slice(tail);
  return [first, ...cutResults(kept, keeps.mostTailTokens)];
}

function withoutBoundThinking(messages: readonly FrozenMessage[]): FrozenMessage[] {
  const open = openTurn(messages);
  return messages
    .map((message, index) =>
      index >= open
        ? message
        : { ...message, blocks: message.blocks.filter(({ type }) => !type.endsWith('thinking')) },
    )
    .filter(({ blocks }) => blocks.length > 0);
}

/** Where the turn begins whose calls the last message answers; past the end when none is open. */
function openTurn(messages: readonly FrozenMessage[]): number {
  const start = messages.findLastIndex(
    ({ role }, index) => role === 'assistant' && messages[index - 1]?.role !== 'assistant',
  );
  const results = messages.findIndex(({ role }, index) => index > start && role === 'user');
  return start >= 0 && results > start && answersCalls(messages, results) ? start : messages.length;
}

/** The prompts that are not among the kept messages: those are kept as they are. */
export function promptsBefore(
  prompts: readonly FrozenMessage[],
  tail: readonly FrozenMessage[],
): readonly FrozenMessage[] {
  let left = prompts.length;
  for (const { role, blocks } of tail.toReversed()) {
    const prompt = prompts[left - 1]?.blocks.at(-1);
    if (role === 'user' && prompt !== undefined && blocks.at(-1)?.digest === prompt.digest) left -= 1;
  }
  return prompts.slice(0, left);
}
