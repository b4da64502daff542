/** The agents whose work a usage limit or an outage interrupted (AGENT-5): unlike those that a person stopped, they are to resume. */
import { type InterruptionCause, isInterruptionCause } from '../../schema/errors.ts';
import type { EventOf } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { JournalReader } from '../journal.ts';

type AgentEnd = Pick<EventOf<'agent.ended'>, 'status' | 'cause'>;

/** `ended` is an agent's last end; null while it runs. */
export function isCutOff(ended: AgentEnd | null): boolean {
  return ended !== null && causeOf(ended) !== null;
}

/** Null where it was not cut off. */
function causeOf({ status, cause }: AgentEnd): InterruptionCause | null {
  return status === 'interrupted' && isInterruptionCause(cause) ? cause : null;
}

interface Candidate {
  readonly parent: AgentId | null;
  cause: InterruptionCause | null;
  hasBegun: boolean;
}

export interface CutOffAgent {
  readonly id: AgentId;
  readonly cause: InterruptionCause;
}

/**
 * The agents below `main` that were cut off and have not resumed, and that a resume of the session would continue.
 * Most sessions have none: then only the ends are read.
 */
export function cutOffAgents(reader: JournalReader, main: AgentId): CutOffAgent[] {
  const ends = Iterator.from(reader.events({ type: 'agent.ended' }));
  if (!ends.some(({ agent, event }) => agent !== main && event.type === 'agent.ended' && isCutOff(event)))
    return [];
  const agents = new Map<AgentId, Candidate>();
  const types = ['agent.started', 'agent.ended', 'agent.resumed', 'message.appended'] as const;
  for (const { agent: id, event } of reader.events({ types })) {
    const agent = agents.get(id ?? '');
    if (event.type === 'agent.started' && agent === undefined) {
      const { origin, parent } = event;
      if (id !== null && !origin?.skipTranscript && !origin?.narrowed)
        agents.set(id, { parent, cause: null, hasBegun: false });
    } else if (agent !== undefined) {
      agent.cause = event.type === 'agent.ended' ? causeOf(event) : null;
      agent.hasBegun ||= event.type === 'message.appended';
    }
  }
  // Parents come before their children.
  const left = new Map<AgentId, CutOffAgent>();
  for (const [id, { parent, cause, hasBegun }] of agents) {
    if (cause !== null && hasBegun && parent !== null && (parent === main || left.has(parent)))
      left.set(id, { id, cause });
  }
  return [...left.values()];
}

/** The cause of the end of an agent that was given up: a repair could not save its conversation. */
export const CONVERSATION_LOST = 'conversation_lost';

/** Those that were given up in the last run that `main` ended, or in interrupted ones just before it. */
export function agentsGivenUp(reader: JournalReader, main: AgentId): AgentId[] {
  let reported: AgentId[] = [];
  let since: AgentId[] = [];
  for (const { agent, event } of reader.events({ type: 'agent.ended' })) {
    if (event.type !== 'agent.ended' || agent === null) continue;
    if (agent !== main && event.cause === CONVERSATION_LOST) since.push(agent);
    if (agent !== main || event.status === 'interrupted') continue;
    reported = since;
    since = [];
  }
  return reported;
}
