import type { AgentEvent, AgentSpec } from '../../engine/shapes.ts';
import type { Journal } from '../../journal/journal.ts';
import { describeError } from '../../schema/errors.ts';
import type { JournalEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';

/** The one sink of a session: what its agents tell, the main agent too, in the order in which it happens. */
export class EventBus<Event extends { type: string }> {
  readonly #listeners = new Set<(event: Event) => void>();

  /** Where nobody listens, what would be told need not be made. */
  get isHeard(): boolean {
    return this.#listeners.size > 0;
  }

  publish(event: Event): void {
    // Those who listen now: a listener may leave, come back or bring others.
    for (const listener of [...this.#listeners]) if (this.#listeners.has(listener)) listener(event);
  }

  /** Returns the unsubscribe function. */
  subscribe(listener: (event: Event) => void): () => void {
    const unharmed = harmless(listener, ({ type }) => type);
    this.#listeners.add(unharmed);
    return () => void this.#listeners.delete(unharmed);
  }
}

/**
 * What a listener gets is its own: it may shorten a text for its screen, while a call runs with the same input. Copies
 * lists and plain objects; what they hold beside these cannot be changed or is nobody's data.
 */
function ownCopy<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  // The cast: a copy has the shape of its original.
  if (Array.isArray(value)) return value.map(ownCopy) as Value;
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  // A spread and a few changes take a sixth of the time of a list of entries, and every delta of every agent comes here.
  // The cast: a plain object has names.
  const copy = { ...value } as Record<string, unknown>;
  for (const name of Object.keys(copy)) {
    const part = copy[name];
    if (typeof part === 'object' && part !== null) setOwn(copy, name, ownCopy(part));
  }
  // The first cast again.
  return copy as Value;
}

/** A tool's input may have any name. */
function setOwn(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
  else target[name] = value;
}

/**
 * A listener belongs to the program that opened the session, and is called while an agent records. What it throws, or what
 * its promise rejects with, must not reach the agent: it becomes a warning of the process (`process.on('warning')`; Node
 * prints it by default). One that fails again in the same way is not reported again: deltas are many.
 */
export function harmless<Args extends readonly unknown[]>(
  listener: (...args: Args) => unknown,
  nameOf: (...args: Args) => string,
): (...args: Args) => void {
  let last: string | null = null;
  const report = (error: unknown, at: string): void => {
    const message = describeError(error);
    if (message === last) return;
    last = message;
    const detail = stackOf(error);
    process.emitWarning(`a listener of the session failed at ${at}; the agents continue: ${message}`, {
      type: 'ListenerWarning',
      ...(detail !== undefined && { detail }),
    });
  };
  return (...args) => {
    try {
      const result = listener(...ownCopy(args));
      // Also a promise of another realm.
      if (typeof result === 'object' && result !== null && 'then' in result)
        Promise.resolve(result).catch((error) => report(error, nameOf(...args)));
    } catch (error) {
      report(error, nameOf(...args));
    }
  };
}

function stackOf(error: unknown): string | undefined {
  try {
    const stack = error instanceof Error ? error.stack : undefined;
    return typeof stack === 'string' ? stack : undefined;
  } catch {
    return undefined;
  }
}

/** Gets what a journal records, so that this process need not read it again. */
export type RecordListener = (agent: AgentId | null, event: JournalEvent) => void;

/** Told in order, also of what can no longer be written: a full disk does not make it unknown. */
export function observedJournal(journal: Journal, listener: RecordListener | undefined): Journal {
  if (listener === undefined) return journal;
  const told = harmless(listener, (_, { type }) => type);
  return {
    session: journal.session,
    file: journal.file,
    append(agent, event) {
      journal.append(agent, event);
      told(agent, event);
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
