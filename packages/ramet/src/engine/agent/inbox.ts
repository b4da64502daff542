/**
 * What has come for an agent and is not yet told (AGENT-5, AGENT-7): notifications of background agents, messages of
 * others, the request to end. It is told at the next tool boundary, in order, once. What there is follows from the
 * agent's state (`pending`); here is who waits for it, and which items calls that are under way are going to tell.
 */
import type { FrozenBlock } from '../../conversation/frozen-block.ts';
import type { EventOf, JournalEvent } from '../../schema/events.ts';

export interface InboxItem {
  readonly item: string;
  readonly kind: EventOf<'message.received'>['kind'];
  readonly from: string | null;
  readonly blocks: readonly FrozenBlock[];
}

export class Inbox {
  /** Everything that is not told, with its bytes. */
  readonly #pending: () => readonly InboxItem[];
  /** Of this process: a call that is cut off tells nothing, so whoever resumes the agent finds its items again. */
  readonly #taken = new Set<string>();
  readonly #waiting = new Set<() => void>();

  constructor(pending: () => readonly InboxItem[]) {
    this.#pending = pending;
  }

  /** In the order in which they came; whoever tells them records that. */
  get items(): readonly InboxItem[] {
    const pending = this.#pending();
    return this.#taken.size === 0 ? pending : pending.filter(({ item }) => !this.#taken.has(item));
  }

  get size(): number {
    return this.items.length;
  }

  has(item: string): boolean {
    return this.items.some((held) => held.item === item);
  }

  /** Whether others have said something to the agent. */
  get hasMessages(): boolean {
    return this.items.some(({ kind }) => kind === 'message');
  }

  /** Follows an event that the agent's state has followed. */
  follow(event: JournalEvent): void {
    if (event.type === 'message.taken' && event.call !== null) this.#taken.add(event.item);
    if (event.type === 'message.received') for (const wake of this.#waiting) wake();
  }

  /** The calls that had taken items are gone. */
  reopen(): void {
    this.#taken.clear();
  }

  /** Resolves when there is something, or `signal` aborts. */
  async arrival(signal: AbortSignal): Promise<void> {
    if (this.size > 0 || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    this.#waiting.add(wake);
    signal.addEventListener('abort', wake, { once: true });
    try {
      await promise;
    } finally {
      this.#waiting.delete(wake);
      signal.removeEventListener('abort', wake);
    }
  }
}
