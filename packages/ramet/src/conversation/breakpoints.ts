/**
 * Where a request marks the prompt cache (FORK-7): the end of the system prompt, the end of what other runs
 * share, the previous request's last mark repeated, and the end. Repeating the previous mark is what makes the
 * next request hit after any number of new blocks: the provider looks back 20 blocks from a mark, no further.
 *
 * Invariant: at most four, in prompt order, none twice, each on a block the API accepts one on.
 */

import type { PlannedRequest } from '../model/cache/cache-map.ts';
import type { Breakpoint } from '../schema/events.ts';
import type { BlockPosition, Conversation } from './conversation.ts';

type Ttl = Breakpoint['ttl'];

export interface MarkOptions {
  /** Leaves the end unmarked: nothing is written that only this request's successors would read. */
  skipWrite?: boolean | undefined;
  /** Five minutes when absent. */
  ttl?: Ttl;
}

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
