import type { Journal } from '../../journal/journal.ts';
import type { JournalEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';

export interface HeldEvents<Event> {
  readonly events: Event[];
  wake: () => void;
  release(): void;
}

/** Joins what the main agent does with what its children do, in the order in which it happens. */
export class EventBus<Event> {
  readonly #listeners = new Set<(event: Event) => void>();

  publish(event: Event): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Returns the way out. */
  subscribe(listener: (event: Event) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Keeps what is published from now on, for `during` to yield. */
  hold(): HeldEvents<Event> {
    const events: Event[] = [];
    const release = this.subscribe((event) => {
      events.push(event);
      held.wake();
    });
    const held: HeldEvents<Event> = { events, wake: () => {}, release };
    return held;
  }

  /**
   * Yields what was held, then the events of `main` and, while it runs, those that are published. `main` advances only
   * as its own events are taken. A caller that stops taking them calls `abandon`, since `main` may be waiting for
   * others just then.
   */
  async *during<Value>(
    main: AsyncGenerator<Event, Value>,
    abandon: () => void,
    held: HeldEvents<Event> = this.hold(),
  ): AsyncGenerator<Event, Value> {
    const queue = held.events;
    let over = false;
    try {
      for (;;) {
        let step: IteratorResult<Event, Value> | null = null;
        const next = main.next().then((result) => {
          step = result;
          held.wake();
        });
        while (step === null) {
          yield* queue.splice(0);
          if (step === null && queue.length === 0) {
            const woken = new Promise<void>((resolve) => {
              held.wake = resolve;
            });
            await Promise.race([woken, next]);
          }
        }
        yield* queue.splice(0);
        const { done, value } = step as IteratorResult<Event, Value>; // set by the callback above
        if (done) {
          over = true;
          return value;
        }
        yield value;
      }
    } finally {
      held.release();
      if (!over) {
        abandon();
        await main.return(undefined as Value); // nobody looks at it
      }
    }
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

/**
 * A run that advances as its events are taken, and that another caller can drain. The caller that stops a session may
 * itself hold the last event, and would wait for itself. Nothing is lost: the taker gets the rest in order.
 */
export class DrainableRun<Event, Result> {
  readonly #source: AsyncGenerator<Event, Result>;
  readonly #ahead: IteratorResult<Event, Result>[] = [];
  #drained: Promise<void> | null = null;

  constructor(source: AsyncGenerator<Event, Result>) {
    this.#source = source;
  }

  async *events(): AsyncGenerator<Event, Result> {
    let isOver = false;
    try {
      for (;;) {
        const next = await this.#next();
        isOver = next.done === true;
        if (next.done) return next.value;
        yield next.value;
      }
    } finally {
      if (!isOver) await this.#source.return(undefined as Result); // nobody looks at it
    }
  }

  /** Rejects, as taking its events does then, when the run throws. */
  drain(): Promise<void> {
    this.#drained ??= this.#takeAll();
    return this.#drained;
  }

  async #takeAll(): Promise<void> {
    for (;;) {
      const step = await this.#source.next();
      this.#ahead.push(step);
      if (step.done) return;
    }
  }

  async #next(): Promise<IteratorResult<Event, Result>> {
    // At once, so that the source is asked in the order in which its events were wanted.
    if (this.#drained === null) return this.#source.next();
    await this.#drained;
    return this.#ahead.shift() ?? this.#source.next();
  }
}
