/** The agents whose work a usage limit or an outage interrupted (AGENT-5): unlike those that a person stopped, they are to resume. */
import type { EventOf } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { JournalReader } from '../journal.ts';

const CAUSES: readonly (string | null)[] = ['limit', 'provider'];

/** `ended` is an agent's last end; null while it runs. */
export function isCutOff(ended: Pick<EventOf<'agent.ended'>, 'status' | 'cause'> | null): boolean {
  return ended?.status === 'interrupted' && CAUSES.includes(ended.cause);
}

/**
 * The agents below `main` that were cut off and have not resumed, and that a resume of the session would continue.
 * Most sessions have none: then only the ends are read.
 */
export function cutOffAgents(reader: JournalReader, main: AgentId): AgentId[] {
  const ends = Iterator.from(reader.events({ type: 'agent.ended' }));
  if (!ends.some(({ agent, event }) => agent !== main && event.type === 'agent.ended' && isCutOff(event)))
    return [];
  const agents = new Map<AgentId, { parent: AgentId | null; isCutOff: boolean; hasBegun: boolean }>();
  const types = ['agent.started', 'agent.ended', 'agent.resumed', 'message.appended'] as const;
  for (const { agent: id, event } of reader.events({ types })) {
    const agent = agents.get(id ?? '');
    if (event.type === 'agent.started' && agent === undefined) {
      const { origin, parent } = event;
      if (id !== null && !origin?.skipTranscript && !origin?.narrowed)
        agents.set(id, { parent, isCutOff: false, hasBegun: false });
    } else if (agent !== undefined) {
      agent.isCutOff = event.type === 'agent.ended' && isCutOff(event);
      agent.hasBegun ||= event.type === 'message.appended';
    }
  }
  // Parents come before their children.
  const left = new Set<AgentId>();
  for (const [id, { parent, isCutOff, hasBegun }] of agents) {
    if (isCutOff && hasBegun && parent !== null && (parent === main || left.has(parent))) left.add(id);
  }
  return [...left];
}
