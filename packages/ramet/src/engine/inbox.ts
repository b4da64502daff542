/**
 * What has come for an agent and is not yet told (AGENT-5, AGENT-7): notifications of background agents, messages of
 * others, the request to end. It is told at the next tool boundary, in order, once: what is received is recorded, what
 * is told is recorded with the message that tells it, and a resumed agent finds the difference.
 */
import type { FrozenBlock } from '../conversation/frozen-block.ts';
import type { EventOf } from '../schema/events.ts';

export interface InboxItem {
  readonly item: string;
  readonly kind: EventOf<'message.received'>['kind'];
  readonly from: string | null;
  readonly blocks: readonly FrozenBlock[];
}

export class Inbox {
  readonly #items: InboxItem[] = [];
  readonly #waiting = new Set<() => void>();
  /** Told of what comes, where the agent's loop runs in another process. */
  onPut: ((item: InboxItem) => void) | null = null;
  onTake: ((items: readonly InboxItem[]) => void) | null = null;

  get size(): number {
    return this.#items.length;
  }

  has(item: string): boolean {
    return this.#items.some((held) => held.item === item);
  }

  some(wanted: (item: InboxItem) => boolean): boolean {
    return this.#items.some(wanted);
  }

  /** Whether others have said something to the agent. */
  get hasMessages(): boolean {
    return this.#items.some(({ kind }) => kind === 'message');
  }

  /** For what is recorded as received. */
  put(item: InboxItem): void {
    this.#items.push(item);
    this.onPut?.(item);
    for (const wake of this.#waiting) wake();
  }

  /** Everything there is, in order; whoever takes it tells it. */
  takeAll(): InboxItem[] {
    return this.#items.splice(0);
  }

  /** Takes out what `wanted` picks: a tool tells it. */
  take(wanted: (item: InboxItem) => boolean): InboxItem[] {
    const taken = this.#items.filter(wanted);
    if (taken.length === 0) return taken;
    this.#items.splice(0, Infinity, ...this.#items.filter((item) => !taken.includes(item)));
    this.onTake?.(taken);
    return taken;
  }

  get items(): readonly InboxItem[] {
    return this.#items;
  }

  /** Resolves when there is something, or `signal` aborts. */
  async arrival(signal: AbortSignal): Promise<void> {
    if (this.#items.length > 0 || signal.aborted) return;
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
