/** Notes for a person during a run, one line each: requests that are tried again, denied calls, changed checkouts. */
import { checkoutWarning, REFUSED_OFTEN } from '../engine/agent/notices.ts';
import type { AgentEvent } from '../engine/shapes.ts';
import { GO_ON } from '../permission/assessment.ts';
import { spanText } from '../schema/until-text.ts';
import { printable } from './text/format.ts';

const LONGEST_REASON = 600;

/** Null when it is not tried again, and when it was sent again at once: nobody waits then. */
export function retryLine(
  event: Pick<AgentEvent & { type: 'request_failed' }, 'attempt' | 'message' | 'retryInMs'>,
): string | null {
  if (event.retryInMs === null || event.retryInMs === 0) return null;
  return `attempt ${event.attempt} failed: ${event.message}; trying again in ${pauseText(event.retryInMs)}`;
}

function pauseText(ms: number): string {
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : spanText(ms);
}

/** `compacted: 90k to 12k tokens`. */
export function compactedLine(
  {
    tokensBefore = 0,
    tokens = 0,
  }: Pick<AgentEvent & { type: 'conversation_replaced' }, 'tokensBefore' | 'tokens'>,
  count: (tokens: number) => string,
): string {
  return `compacted: ${count(tokensBefore)} to ${count(tokens)} tokens`;
}

/** Why a call was denied. The result is written for a model: what that should do is left out, and what the user can do stays. */
export function denialReason({ call, result: { content } }: AgentEvent & { type: 'tool_completed' }): string {
  const text =
    typeof content === 'string'
      ? content
      : content.map((block) => ('text' in block ? block.text : '')).join(' ');
  return text
    .replace(`${call.name} is not permitted: `, '')
    .replace(` ${GO_ON}`, '')
    .replace(`\n${REFUSED_OFTEN}`, '')
    .replace('(For the user: ', '(')
    .replace(/\s+/g, ' ')
    .slice(0, LONGEST_REASON);
}

/** Of a checkout that changed while an agent was in a worktree of it (WORK-9). */
export function checkoutNote(checkout: string, changes: readonly string[]): string {
  return printable(`${checkout} changed meanwhile; ${checkoutWarning(changes)}`);
}
