/** What a conversation has cost so far, as its status line and `/status` show it. */
import { addCost, addUsage, NO_USAGE, type Usage } from '../../../schema/usage.ts';
import type { SessionEvent } from '../../../sdk/session/session.ts';

export interface ChatTally {
  readonly responses: number;
  readonly usage: Usage;
  /** Null when any part of it is unknown. */
  readonly costUsd: number | null;
}

export const NOTHING_SPENT: ChatTally = { responses: 0, usage: NO_USAGE, costUsd: 0 };

/** One response by default. */
export type BilledPart = Pick<ChatTally, 'usage' | 'costUsd'> & Partial<Pick<ChatTally, 'responses'>>;

/** A response, or what had come of one that was stopped or broke off; null for what costs nothing. */
export function billedPart(event: SessionEvent): BilledPart | null {
  if (event.type === 'assistant') return event;
  if (event.type !== 'request_failed' || event.usage === null) return null;
  return { usage: event.usage, costUsd: event.costUsd, responses: 0 };
}

export function withPart(tally: ChatTally, { usage, costUsd, responses = 1 }: BilledPart): ChatTally {
  return {
    responses: tally.responses + responses,
    usage: addUsage(tally.usage, usage),
    costUsd: addCost(tally.costUsd, costUsd),
  };
}
