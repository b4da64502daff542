/** How a run is shown: told of its start, each event, and its end. One implementation per output format. */
import type { AgentResult } from '../../engine/agent-event.ts';
import type { Session, SessionEvent } from '../../sdk/session.ts';

export interface ResultOutput {
  start(session: Session): void;
  event(session: Session, event: SessionEvent): void;
  end(session: Session, result: AgentResult): void;
}

/** `failed: max_turns: the limit of 3 turns is reached`, for people. */
export function endingLine({ status, cause, message }: AgentResult, session: Session): string {
  const because = [cause, message].filter(Boolean).join(': ');
  return `${status}: ${because} (session ${session.id}; go on with: ramet -p --resume ${session.id})`;
}

export function retryLine(event: SessionEvent & { type: 'request_failed' }): string | null {
  if (event.retryInMs === null) return null;
  return `attempt ${event.attempt} failed: ${event.message}; trying again in ${(event.retryInMs / 1000).toFixed(1)} s`;
}
