/**
 * Which events of a journal are whose, for one process that reads the events of single agents again and again: the file has
 * no index, so each such question would read all of a long record. It reads on from where it stopped, and holds a number
 * for each event.
 */
import type { EventOf, JournalEvent, RecordedEvent } from '../schema/events.ts';
import type { AgentId } from '../schema/ids.ts';
import type { JournalReader } from './journal.ts';

/** An agent that has ended has little after its end. */
const LOOKED_AT = 16;

export class EventPlaces {
  #last = 0;
  readonly #byAgent = new Map<AgentId, number[]>();
  /** Where children began: the last one of each id and of each name. */
  readonly #starts = new Map<string, number>();
  readonly #parents = new Set<AgentId>();

  /** The same as `reader.events({ agent })`. */
  of(reader: JournalReader, agent: AgentId): Iterable<RecordedEvent> {
    this.#follow(reader);
    return reader.at(this.#byAgent.get(agent) ?? []) ?? reader.events({ agent });
  }

  /** The last event of that type of an agent; null for none. It reads from the end on. */
  lastOf<Type extends JournalEvent['type']>(
    reader: JournalReader,
    agent: AgentId,
    type: Type,
  ): EventOf<Type> | null {
    this.#follow(reader);
    const numbers = this.#byAgent.get(agent) ?? [];
    for (let end = numbers.length; end > 0; end -= LOOKED_AT) {
      const events = reader.at(numbers.slice(Math.max(0, end - LOOKED_AT), end));
      const found = lastOfType(events ?? reader.events({ agent }), type);
      if (found !== null || events === null) return found;
    }
    return null;
  }

  /** The start of the last child of that id or name; null when there never was one. */
  startOf(reader: JournalReader, idOrName: string): RecordedEvent | null {
    this.#follow(reader);
    const seq = this.#starts.get(idOrName);
    return (seq === undefined ? undefined : reader.at([seq])?.[0]) ?? null;
  }

  isParent(reader: JournalReader, agent: AgentId): boolean {
    this.#follow(reader);
    return this.#parents.has(agent);
  }

  #follow(reader: JournalReader): void {
    for (const { seq, agent, parent, name } of reader.places(this.#last)) {
      this.#last = seq;
      if (agent === null) continue;
      const known = this.#byAgent.get(agent);
      if (known === undefined) this.#byAgent.set(agent, [seq]);
      else known.push(seq);
      if (parent === null) continue;
      this.#parents.add(parent);
      this.#starts.set(agent, seq);
      if (name !== null) this.#starts.set(name, seq);
    }
  }
}

function lastOfType<Type extends JournalEvent['type']>(
  events: Iterable<RecordedEvent>,
  type: Type,
): EventOf<Type> | null {
  let last: EventOf<Type> | null = null;
  // The type says which event it is.
  for (const { event } of events) if (event.type === type) last = event as EventOf<Type>;
  return last;
}
