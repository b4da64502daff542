/**
 * The states of all agents of a session in one reading, to resume many of them. A fork takes over what its
 * parent had when it was forked (FORK-4).
 */
import type { RecordedEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import { type AgentState, forkState, newAgentState } from './agent-state.ts';
import { applyEvent } from './apply-event.ts';

export function recordedAgents(events: Iterable<RecordedEvent>): Map<AgentId, AgentState> {
  const agents = new Map<AgentId, AgentState>();
  for (const recorded of events) {
    const { agent: id, event } = recorded;
    if (id === null) continue;
    const state = agents.get(id) ?? newAgentState(id);
    const parent = event.type === 'conversation.inherited' ? agents.get(event.from) : undefined;
    agents.set(id, applyEvent(parent === undefined ? state : forkState(state, parent), recorded));
  }
  return agents;
}

/** One agent and, when it is a fork, its parent up to the fork: nothing else is read. */
export function recordedAgent(
  read: (agent: AgentId) => Iterable<RecordedEvent>,
  id: AgentId,
  before: number = Number.POSITIVE_INFINITY,
): AgentState {
  let state = newAgentState(id);
  for (const recorded of read(id)) {
    const { seq, event } = recorded;
    if (seq >= before) break;
    if (event.type === 'conversation.inherited')
      state = forkState(state, recordedAgent(read, event.from, seq));
    state = applyEvent(state, recorded);
  }
  return state;
}
