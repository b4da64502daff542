import type { AgentEvent, AgentSpec } from '../../engine/shapes.ts';
import type { Journal } from '../../journal/journal.ts';
import type { JournalEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';

/** The one sink of a session: what its agents tell, the main agent too, in the order in which it happens. */
export class EventBus<Event> {
  readonly #listeners = new Set<(event: Event) => void>();

  /** Where nobody listens, what would be told need not be made. */
  get isHeard(): boolean {
    return this.#listeners.size > 0;
  }

  publish(event: Event): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Returns the unsubscribe function. */
  subscribe(listener: (event: Event) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** Gets what a journal records, so that this process need not read it again. */
export type RecordListener = (agent: AgentId | null, event: JournalEvent) => void;

/** Told in order, also of what can no longer be written: a full disk does not make it unknown. */
export function observedJournal(journal: Journal, listener: RecordListener | undefined): Journal {
  if (listener === undefined) return journal;
  return {
    session: journal.session,
    file: journal.file,
    append(agent, event) {
      journal.append(agent, event);
      listener(agent, event);
    },
    storeBlock: (digest, bytes) => journal.storeBlock(digest, bytes),
    commit: (durability) => journal.commit(durability),
    close: () => journal.close(),
  };
}

/** An agent's event with the agent it is of. */
export type SessionEvent = AgentEvent & { agentId: AgentId; parentAgentId: AgentId | null };

export function attributed(
  event: AgentEvent,
  { id, parent }: Pick<AgentSpec, 'id' | 'parent'>,
): SessionEvent {
  return { ...event, agentId: id, parentAgentId: parent };
}
