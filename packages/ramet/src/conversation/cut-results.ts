/** Makes the tool results of kept messages fit: each keeps its beginning, its end and its place, the longest give most. */
import type { FrozenMessage } from './conversation.ts';
import { bytesOfTokens, contentOf, estimateTokens, type FrozenBlock, freezeBlock } from './frozen-block.ts';

const MARGIN = 200;

/** The messages as they are when they fit; otherwise with results cut as far as it takes, or as far as it goes. */
export function cutResults(messages: readonly FrozenMessage[], mostTokens: number): readonly FrozenMessage[] {
  const blocks = messages.flatMap((message) => message.blocks);
  if (estimateTokens(blocks) <= mostTokens) return messages;
  const results = blocks.filter(isResult);
  const others = estimateTokens(blocks.filter((block) => !isResult(block)));
  const most = fairShare(
    results.map((block) => block.bytes.length),
    bytesOfTokens(Math.max(0, mostTokens - others)),
  );
  return messages.map(({ role, blocks: all, shared }) => ({
    role,
    shared,
    blocks: all.map((block) => (isResult(block) ? cutResult(block, most) : block)),
  }));
}

function isResult({ type }: FrozenBlock): boolean {
  return type === 'tool_result';
}

/** The most that one may have so that all fit `room`: what short ones leave over goes to the long ones. */
export function fairShare(lengths: readonly number[], room: number): number {
  let left = room;
  const sorted = [...lengths].sort((a, b) => a - b);
  for (const [index, length] of sorted.entries()) {
    const share = left / (sorted.length - index);
    if (length > share) return Math.floor(share);
    left -= length;
  }
  return room;
}

function cutResult(block: FrozenBlock, most: number): FrozenBlock {
  if (block.bytes.length <= most) return block;
  const { tool_use_id, content, is_error } = contentOf(block);
  const text = textOf(content);
  // Room is counted in bytes of JSON, text in characters.
  const share = Math.max(0, most - MARGIN) / Buffer.byteLength(JSON.stringify(text));
  return freezeBlock({
    type: 'tool_result',
    tool_use_id,
    content: cutMiddle(text, Math.floor(text.length * Math.min(1, share))),
    ...(is_error === true && { is_error }),
  });
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content ?? '');
  return content
    .map((part) => (part?.type === 'text' ? String(part.text) : `[${part?.type} left out]`))
    .join('\n');
}

/** Keeps the beginning and the end, in characters, and says how much is gone. */
export function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.ceil(most * 0.7);
  const tail = Math.floor(most * 0.3);
  const gone = text.length - head - tail;
  const end = tail > 0 ? text.slice(-tail) : '';
  // A cut may part the two halves of one character, which no JSON reader has to accept.
  return `${text.slice(0, head)}\n[${gone} characters left out]\n${end}`.trim().toWellFormed();
}
