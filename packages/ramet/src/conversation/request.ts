/**
 * The one place that turns a conversation into request bytes, for every agent, streamed or not, first try or
 * resend. The body is a join of frozen buffers, in the order the provider hashes: model, tools, system,
 * messages; what may vary between requests on one prefix (max_tokens) comes last. It also says where a request marks
 * the prompt cache.
 */

import type { PlannedRequest } from '../model/cache/cache-map.ts';
import type { ModelRequest } from '../model/provider.ts';
import type { Breakpoint } from '../schema/events.ts';
import type { BlockPosition, Conversation, PromptHead, SealedMessage } from './conversation.ts';
import { type FrozenBlock, markedBytes } from './frozen-block.ts';

export interface RequestShape {
  breakpoints: readonly Breakpoint[];
  maxTokens: number;
  /** How many messages to carry; all when absent. Lets a journaled request be built again. */
  messages?: number;
}

/** What is sent: its pieces in order. A caller that needs one buffer joins them. */
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

type Ttl = Breakpoint['ttl'];

interface MarkOptions {
  /** Leaves the end unmarked: nothing is written that only this request's successors would read. */
  skipWrite?: boolean | undefined;
  /** Five minutes when absent. */
  ttl?: Ttl;
}

/**
 * The marks in the prompt cache (FORK-7): the end of the system prompt, the end of what other runs
 * share, the previous request's last mark repeated, and the end. Repeating the previous mark is what makes the
 * next request hit after any number of new blocks: the provider looks back 20 blocks from a mark, no further.
 *
 * Invariant: at most four, in prompt order, none twice, each on a block the API accepts one on.
 */
export function placeBreakpoints(
  conversation: Conversation,
  previousEnd: BlockPosition | null,
  { skipWrite = false, ttl = '5m' }: MarkOptions = {},
): Breakpoint[] {
  const end = skipWrite ? null : lastMarkable(conversation, lastPosition(conversation));
  return placeAt([systemEnd(conversation), sharedEnd(conversation), previousEnd, end], ttl);
}

/** Only what the last request marked, to read it again: its end at `end`. */
export function repeatedMarks(conversation: Conversation, end: BlockPosition, ttl: Ttl): Breakpoint[] {
  return placeAt([systemEnd(conversation), sharedEnd(conversation), end], ttl);
}

/**
 * For a question that nothing follows: it reads what earlier requests wrote and writes nothing that only it would
 * read. A question on a part of the conversation ends where an earlier request did, and reads what that one wrote.
 */
export function repeatBreakpoints(
  conversation: Conversation,
  previousEnd: BlockPosition | null,
): Breakpoint[] {
  const question = conversation.messages.length - 1;
  const beyond = previousEnd !== null && previousEnd.message >= question;
  const before = lastMarkable(conversation, { message: question - 1, block: 0 });
  return placeAt([systemEnd(conversation), sharedEnd(conversation), beyond ? before : previousEnd], '5m');
}

function placeAt(wanted: readonly (BlockPosition | null)[], ttl: Ttl): Breakpoint[] {
  const placed: Breakpoint[] = [];
  for (const position of wanted) {
    if (position === null) continue;
    if (placed.some((mark) => mark.message === position.message && mark.block === position.block)) continue;
    placed.push({ ...position, ttl });
  }
  return placed.sort((a, b) => a.message - b.message || a.block - b.block);
}

/** The end mark of a list of breakpoints: what the next request repeats. Null when only the system is marked. */
export function endOf(breakpoints: readonly Breakpoint[]): BlockPosition | null {
  const last = breakpoints.at(-1);
  return last === undefined || last.message < 0 ? null : { message: last.message, block: last.block };
}

function systemEnd(conversation: Conversation): BlockPosition | null {
  const { system } = conversation.head;
  const block = system.findLastIndex((candidate) => candidate.markable);
  return block < 0 ? null : { message: -1, block };
}

/** A fork's first message has a shared tail, and so has its parent's: the later one holds the earlier. */
function sharedEnd(conversation: Conversation): BlockPosition | null {
  const message = conversation.messages.findLastIndex((candidate) => candidate.shared > 0);
  const found = conversation.messages[message];
  if (found === undefined) return null;
  const block = found.blocks.findLastIndex(({ markable }, index) => markable && index < found.shared);
  return block < 0 ? null : { message, block };
}

/** The end of the longest prefix that other agents have too: the shared tail, else the system. */
export function sharedPrefixEnd(conversation: Conversation): BlockPosition | null {
  return sharedEnd(conversation) ?? systemEnd(conversation);
}

function lastPosition(conversation: Conversation): BlockPosition {
  const message = conversation.messages.length - 1;
  return { message, block: (conversation.messages[message]?.blocks.length ?? 0) - 1 };
}

function lastMarkable(conversation: Conversation, from: BlockPosition): BlockPosition | null {
  for (let message = from.message; message >= 0; message--) {
    const blocks = conversation.messages[message]?.blocks ?? [];
    const block = blocks.findLastIndex((candidate) => candidate.markable);
    if (block >= 0) return { message, block };
  }
  return null;
}

/** What a request does to the provider's cache, as the cache map wants to know it. */
export function planRequest(
  conversation: Conversation,
  breakpoints: readonly Breakpoint[],
  startedAt: number,
): PlannedRequest {
  const marks = breakpoints.map((mark) => ({ index: conversation.indexOf(mark), ttl: mark.ttl }));
  return { model: conversation.head.model, chain: conversation, marks, startedAt };
}
