/**
 * The one place that turns a conversation into request bytes, for every agent, streamed or not, first try or
 * resend. The body is a join of frozen buffers, in the order the provider hashes: model, tools, system,
 * messages; what may vary between requests on one prefix (max_tokens) comes last.
 */
import type { Breakpoint } from '../schema/events.ts';
import type { Conversation, PromptHead, SealedMessage } from './conversation.ts';
import { type FrozenBlock, markedBytes } from './frozen-block.ts';

export interface RequestShape {
  breakpoints: readonly Breakpoint[];
  maxTokens: number;
  /** How many messages to carry; all when absent. Lets a journaled request be built again. */
  messages?: number;
}

export function requestBody(conversation: Conversation, shape: RequestShape): Buffer {
  const pieces: Buffer[] = [];
  pushHead(pieces, conversation.head, shape.breakpoints);
  const count = shape.messages ?? conversation.messages.length;
  for (let index = 0; index < count; index++) {
    const message = conversation.messages[index];
    if (message === undefined) break;
    if (index > 0) pieces.push(COMMA);
    pushMessage(pieces, message, index, shape.breakpoints);
  }
  // Without output there is nothing to stream, and the API refuses the two together.
  const stream = shape.maxTokens > 0 ? ',"stream":true' : '';
  pieces.push(Buffer.from(`],"max_tokens":${shape.maxTokens}${stream}}`));
  return Buffer.concat(pieces);
}

const COMMA = Buffer.from(',');
const BLOCKS_END = Buffer.from(']}');
const ROLE_START = {
  user: Buffer.from('{"role":"user","content":['),
  assistant: Buffer.from('{"role":"assistant","content":['),
};

function pushHead(pieces: Buffer[], head: PromptHead, breakpoints: readonly Breakpoint[]): void {
  const thinking = head.thinking === null ? '' : `,"thinking":${JSON.stringify(head.thinking)}`;
  pieces.push(Buffer.from(`{"model":${JSON.stringify(head.model)}${thinking}`));
  if (head.tools.length > 0) {
    pieces.push(Buffer.from(',"tools":['));
    pushBlocks(pieces, head.tools, () => undefined);
    pieces.push(Buffer.from(']'));
  }
  if (head.system.length > 0) {
    pieces.push(Buffer.from(',"system":['));
    pushBlocks(pieces, head.system, (block) => markAt(breakpoints, -1, block));
    pieces.push(Buffer.from(']'));
  }
  pieces.push(Buffer.from(',"messages":['));
}

function pushMessage(
  pieces: Buffer[],
  message: SealedMessage,
  index: number,
  breakpoints: readonly Breakpoint[],
): void {
  if (breakpoints.every((mark) => mark.message !== index)) {
    pieces.push(message.bytes);
    return;
  }
  pieces.push(ROLE_START[message.role]);
  pushBlocks(pieces, message.blocks, (block) => markAt(breakpoints, index, block));
  pieces.push(BLOCKS_END);
}

function pushBlocks(
  pieces: Buffer[],
  blocks: readonly FrozenBlock[],
  mark: (block: number) => Breakpoint | undefined,
): void {
  blocks.forEach((block, index) => {
    if (index > 0) pieces.push(COMMA);
    const breakpoint = mark(index);
    if (breakpoint === undefined) pieces.push(block.bytes);
    else pieces.push(...markedBytes(block, breakpoint.ttl));
  });
}

function markAt(breakpoints: readonly Breakpoint[], message: number, block: number): Breakpoint | undefined {
  return breakpoints.find((mark) => mark.message === message && mark.block === block);
}
