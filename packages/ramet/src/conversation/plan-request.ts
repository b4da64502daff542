/** What a request does to the provider's cache, as the cache map wants to know it. */
import type { PlannedRequest } from '../model/cache/cache-map.ts';
import type { Breakpoint } from '../schema/events.ts';
import type { Conversation } from './conversation.ts';

export function planRequest(
  conversation: Conversation,
  breakpoints: readonly Breakpoint[],
  startedAt: number,
): PlannedRequest {
  const marks = breakpoints.map((mark) => ({ index: conversation.indexOf(mark), ttl: mark.ttl }));
  return { model: conversation.head.model, chain: conversation, marks, startedAt };
}
