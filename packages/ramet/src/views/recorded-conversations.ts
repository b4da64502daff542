/** The conversations of all agents of a session, gathered in one reading, with what compactions replaced. */

import { type AgentState, newAgentState, type StateMessage } from '../journal/projections/agent-state.ts';
import { applyEvent } from '../journal/projections/apply-event.ts';
import type { Digest, JournalEvent, RecordedEvent } from '../schema/events.ts';
import type { AgentId } from '../schema/ids.ts';
import { itemsOf } from '../system/persistent.ts';

export interface RecordedConversation {
  /** The block that lists what a fork took over. */
  inherited: Digest | null;
  /** What compactions have replaced, the oldest first. */
  replaced: readonly (readonly StateMessage[])[];
  messages: readonly StateMessage[];
}

/** Of all that is recorded of an agent, what its messages come from. */
const SAYS_SOMETHING: ReadonlySet<JournalEvent['type']> = new Set([
  'message.appended',
  'response.completed',
  'conversation.inherited',
  'conversation.replaced',
]);

const NONE: RecordedConversation = { inherited: null, replaced: [], messages: [] };

export class RecordedConversations {
  readonly #agents = new Map<AgentId, { state: AgentState; replaced: StateMessage[][] }>();

  take(recorded: RecordedEvent): void {
    const { agent: id, event } = recorded;
    if (id === null || !SAYS_SOMETHING.has(event.type)) return;
    const agent = this.#agents.get(id) ?? { state: newAgentState(id), replaced: [] };
    this.#agents.set(id, agent);
    const compacts = event.type === 'conversation.replaced' && event.cause === 'compaction';
    if (compacts) agent.replaced.push(itemsOf(agent.state.messages));
    agent.state = applyEvent(agent.state, recorded);
  }

  of(agent: AgentId): RecordedConversation {
    const found = this.#agents.get(agent);
    if (found === undefined) return NONE;
    const { state, replaced } = found;
    return { inherited: state.inherited, replaced, messages: itemsOf(state.messages) };
  }
}
