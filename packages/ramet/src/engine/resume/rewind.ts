/**
 * Takes a conversation back to where it stood before an earlier prompt. It is one more event: what followed stays on record,
 * and the bytes before it are sent as they were, so the provider's cache still knows them.
 */
import type { JournalReader } from '../../journal/journal.ts';
import type { AgentState } from '../../journal/projections/agent-state.ts';
import { foldAgent } from '../../journal/projections/apply-event.ts';
import { inheritedMessages } from '../../journal/projections/inherited-messages.ts';
import type { RecordedEvent } from '../../schema/events.ts';
import { entriesOf, itemsOf } from '../../system/persistent.ts';
import type { Agent } from '../agent/agent.ts';
import { bindsThinking, withoutThinking } from '../exchange/switch-model.ts';
import { thawFrom, thawMessage } from './resume.ts';

/** `seq` is that of the prompt. Between turns only, and with no call open. */
export function rewindTo(agent: Agent, reader: JournalReader, seq: number): void {
  const state = foldAgent(before(reader.events({ agent: agent.spec.id }), seq), agent.spec.id);
  const thaw = thawFrom(reader);
  const recorded = [...inheritedMessages(reader, state.inherited), ...itemsOf(state.messages)];
  const messages = recorded.map((message) => thawMessage(message, thaw));
  const { head } = agent.conversation;
  const kept = isOtherModel(state, head.model) ? withoutThinking(messages) : messages;
  const seen = Array.from(entriesOf(state.seen), ([path, version]) => ({ path, version }));
  agent.replaceConversation({ cause: 'rewind', prompts: itemsOf(state.prompts).length, seen }, head, kept);
  // What it read since then is nowhere in its conversation.
  agent.files.goBack();
}

/** Thinking may be bound to the model that it came from. */
function isOtherModel({ prefix }: AgentState, model: string): boolean {
  if (prefix === null || prefix.model === model) return false;
  return bindsThinking(prefix.model) || bindsThinking(model);
}

function* before(events: Iterable<RecordedEvent>, seq: number): Iterable<RecordedEvent> {
  for (const recorded of events) {
    if (recorded.seq >= seq) return;
    yield recorded;
  }
}
