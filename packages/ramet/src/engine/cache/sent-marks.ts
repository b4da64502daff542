/** Where a request marked the cache: which prefix each mark names, how long that is, and how long it lives. */
import { type Conversation, freezeHead, type PromptHead } from '../../conversation/conversation.ts';
import type { FrozenBlock } from '../../conversation/frozen-block.ts';
import type { Breakpoint, Digest } from '../../schema/events.ts';

export interface SentMark extends Breakpoint {
  /** Of everything up to and including the marked block. */
  digest: Digest;
  /** Length of that. */
  bytes: number;
  /** The block's place in the prompt, counted from the first block of the first message; -1 ends the system prompt. */
  place: number;
}

export const LIFETIME_MS = { '5m': 300_000, '1h': 3_600_000 } as const;

/** A provider looks this many blocks back from a mark, the marked one included (facts 1.1). */
const LOOK_BACK = 20;

export function sentMarks(conversation: Conversation, breakpoints: readonly Breakpoint[]): SentMark[] {
  return breakpoints.map((mark) => ({
    ...mark,
    digest: digestAt(conversation, mark),
    bytes: bytesAt(conversation, mark),
    place: placeOf(conversation, mark),
  }));
}

/** Equal digests mean equal prefixes, also where a mark stands inside the system prompt. */
function digestAt(conversation: Conversation, { message, block }: Breakpoint): Digest {
  if (message >= 0) return conversation.digestAt({ message, block });
  const { head } = conversation;
  return block === head.system.length - 1 ? head.digest : freezeHead(headUpTo(head, block)).digest;
}

/** Whether a prompt of so many messages begins with what the mark names. */
export function beginsWith(mark: SentMark, conversation: Conversation, messages: number): boolean {
  if (mark.place < 0) return digestAt(conversation, mark) === mark.digest;
  return mark.message < messages && conversation.chain[mark.place] === mark.digest;
}

/** Whether a provider that looks back from one of these marks comes to that one. */
export function isInReach({ place }: SentMark, marks: readonly SentMark[]): boolean {
  return marks.some((mark) => mark.place >= place && mark.place - place < LOOK_BACK);
}

function headUpTo(head: PromptHead, block: number): PromptHead {
  return { ...head, system: head.system.slice(0, block + 1) };
}

function bytesAt({ head, messages }: Conversation, { message, block }: Breakpoint): number {
  const system = message < 0 ? head.system.slice(0, block + 1) : head.system;
  const before = messages.slice(0, Math.max(0, message)).flatMap(({ blocks }) => blocks);
  const within = messages[message]?.blocks.slice(0, block + 1) ?? [];
  return sizeOf(head.tools) + sizeOf(system) + sizeOf(before) + sizeOf(within);
}

function placeOf({ head, messages }: Conversation, { message, block }: Breakpoint): number {
  if (message < 0) return block - head.system.length;
  return messages.slice(0, message).reduce((sum, { blocks }) => sum + blocks.length, block);
}

export function sizeOf(blocks: readonly FrozenBlock[]): number {
  return blocks.reduce((sum, { bytes }) => sum + bytes.length, 0);
}
