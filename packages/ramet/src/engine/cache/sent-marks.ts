/** Where a request marked the cache: which prefix each mark names, how long that is, and how long it lives. */
import type { Conversation } from '../../conversation/conversation.ts';
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
  const system = conversation.head.system.length;
  // A conversation of which something is lost may be shorter than what was sent.
  const end = system + conversation.chain.length - 1;
  return breakpoints.map((mark) => {
    const index = Math.min(conversation.indexOf(mark), end);
    const digest = conversation.linkAt(index) ?? conversation.head.digest;
    return { ...mark, digest, bytes: conversation.bytesAt(index), place: index - system };
  });
}

/** Whether a prompt of so many messages begins with what the mark names. */
export function beginsWith(mark: SentMark, conversation: Conversation, messages: number): boolean {
  if (mark.place < 0) return conversation.digestAt(mark) === mark.digest;
  return mark.message < messages && conversation.chain[mark.place] === mark.digest;
}

/** Whether a provider that looks back from one of these marks comes to that one. */
export function isInReach({ place }: SentMark, marks: readonly SentMark[]): boolean {
  return marks.some((mark) => mark.place >= place && mark.place - place < LOOK_BACK);
}

export function sizeOf(blocks: readonly FrozenBlock[]): number {
  return blocks.reduce((sum, { bytes }) => sum + bytes.length, 0);
}
