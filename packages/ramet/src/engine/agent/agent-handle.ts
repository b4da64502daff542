/**
 * A running agent as whoever started it sees it: one handle, however the agent is hosted (spec section 6). Nothing it is
 * told does anything once it has ended; SendMessage continues it.
 */
import type { AgentId } from '../../schema/ids.ts';
import type { AgentResult } from './agent-event.ts';

export interface AgentHandle {
  readonly id: AgentId;
  readonly parent: AgentId;
  readonly type: string;
  readonly name: string | null;
  readonly description: string;
  /** Never rejects: the result says how it ended. */
  readonly result: Promise<AgentResult>;
  /** Settles when nobody waits for the result any more: it comes as a notification. */
  readonly detached: Promise<void>;
  readonly inBackground: boolean;
  /** Says something to the agent; It reads the message after its current tool call. */
  steer(text: string): void;
  /** Ends the agent with a summary of what it has done, at its next tool boundary. */
  cancel(): void;
  /** Ends it at once. */
  stop(reason: string): void;
  /** Lets it go on in the background. */
  detach(): void;
}
