/** The conversations of all agents of a session, gathered in one reading, with what compactions replaced. */
import type { Digest, RecordedEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import { emptyTranscript, extendTranscript, type Transcript, type TranscriptMessage } from './transcript.ts';

export interface RecordedConversation {
  /** The block that lists what a fork took over. */
  inherited: Digest | null;
  /** What compactions have replaced, the oldest first. */
  replaced: readonly (readonly TranscriptMessage[])[];
  messages: readonly TranscriptMessage[];
}

const NONE: RecordedConversation = { inherited: null, replaced: [], messages: [] };

export class RecordedConversations {
  readonly #agents = new Map<AgentId, { transcript: Transcript; replaced: TranscriptMessage[][] }>();

  take(recorded: RecordedEvent): void {
    const { agent: id, event } = recorded;
    if (id === null) return;
    const agent = this.#agents.get(id) ?? { transcript: emptyTranscript(id), replaced: [] };
    this.#agents.set(id, agent);
    const compacts = event.type === 'conversation.replaced' && event.cause === 'compaction';
    if (compacts) agent.replaced.push(agent.transcript.messages);
    extendTranscript(agent.transcript, recorded);
  }

  of(agent: AgentId): RecordedConversation {
    const found = this.#agents.get(agent);
    if (found === undefined) return NONE;
    const { transcript, replaced } = found;
    return { inherited: transcript.inherited, replaced, messages: transcript.messages };
  }
}
