/**
 * Where a conversation may be cut. Neighbouring messages of one role are one turn to the provider; a turn of tool
 * results belongs to the calls before it, and no cut comes between the two.
 */
import type { FrozenMessage } from './conversation.ts';

/** Indices of messages with which a valid rest begins, the first message apart. */
export function turnStarts(messages: readonly FrozenMessage[]): number[] {
  const starts: number[] = [];
  messages.forEach(({ role }, index) => {
    if (index === 0 || messages[index - 1]?.role === role) return;
    if (role === 'assistant' || !answersCalls(messages, index)) starts.push(index);
  });
  return starts;
}

/** Whether the user's turn that begins at `index` holds results of calls. */
export function answersCalls(messages: readonly FrozenMessage[], index: number): boolean {
  for (let at = index; messages[at]?.role === 'user'; at++) {
    if (messages[at]?.blocks.some(({ type }) => type === 'tool_result')) return true;
  }
  return false;
}
