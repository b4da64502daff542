/**
 * The one place that turns a conversation into request bytes, for every agent, streamed or not, first try or
 * resend. The body is a join of frozen buffers, in the order the provider hashes: model, tools, system,
 * messages; what may vary between requests on one prefix (max_tokens) comes last.
 */
import type { ModelRequest } from '../model/provider.ts';
import type { Breakpoint } from '../schema/events.ts';
import type { Conversation, PromptHead, SealedMessage } from './conversation.ts';
import { type FrozenBlock, markedBytes } from './frozen-block.ts';

export interface RequestShape {
  breakpoints: readonly Breakpoint[];
  maxTokens: number;
  /** How many messages to carry; all when absent. Lets a journaled request be built again. */
  messages?: number;
}

/** What is sent: its pieces one after the other. Whoever needs one buffer has it made. */
export function modelRequest(conversation: Conversation, shape: RequestShape): ModelRequest {
  const pieces = requestPieces(conversation, shape);
  return {
    model: conversation.head.model,
    pieces,
    get body() {
      return Buffer.concat(pieces);
    },
  };
}

export function requestBody(conversation: Conversation, shape: RequestShape): Buffer {
  return Buffer.concat(requestPieces(conversation, shape));
}

/** From this length on a piece is sent as it is: all agents that share it then share its memory too. */
const LONG_BYTES = 2_048;

function requestPieces(conversation: Conversation, shape: RequestShape): Buffer[] {
  const pieces: Buffer[] = [headBytes(conversation.head, shape.breakpoints)];
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
  return joinShort(pieces);
}

/** Neighbours that are short are joined: each piece by itself costs a connection more than copying it does. */
function joinShort(pieces: readonly Buffer[]): Buffer[] {
  const joined: Buffer[] = [];
  let short: Buffer[] = [];
  for (const piece of pieces) {
    if (piece.length < LONG_BYTES) {
      short.push(piece);
      continue;
    }
    if (short.length > 0) joined.push(Buffer.concat(short));
    short = [];
    joined.push(piece);
  }
  if (short.length > 0) joined.push(Buffer.concat(short));
  return joined;
}

const heads = new WeakMap<PromptHead, Map<string, Buffer>>();

/** Everything before the messages, joined once for each way in which the system can be marked. */
function headBytes(head: PromptHead, breakpoints: readonly Breakpoint[]): Buffer {
  const marks = breakpoints.filter(({ message }) => message < 0);
  const key = marks.map(({ block, ttl }) => `${block} ${ttl}`).join();
  const known = heads.get(head) ?? new Map<string, Buffer>();
  heads.set(head, known);
  const bytes = known.get(key) ?? joinHead(head, marks);
  known.set(key, bytes);
  return bytes;
}

function joinHead(head: PromptHead, marks: readonly Breakpoint[]): Buffer {
  const pieces: Buffer[] = [];
  pushHead(pieces, head, marks);
  return Buffer.concat(pieces);
}

const COMMA = Buffer.from(',');
const BLOCKS_END = Buffer.from(']}');
const ROLE_START = {
  user: Buffer.from('{"role":"user","content":['),
  assistant: Buffer.from('{"role":"assistant","content":['),
};

function pushHead(pieces: Buffer[], head: PromptHead, breakpoints: readonly Breakpoint[]): void {
  pieces.push(Buffer.from(`{"model":${JSON.stringify(head.model)}${thinkingJson(head.thinking)}`));
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

function thinkingJson(thinking: PromptHead['thinking']): string {
  if (thinking === null) return '';
  if (thinking.type !== 'adaptive' || thinking.effort === undefined)
    return `,"thinking":${JSON.stringify(thinking)}`;
  return `,"thinking":{"type":"adaptive"},"output_config":{"effort":"${thinking.effort}"}`;
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
